import { describe, expect, it } from 'vitest';
import {
  classOf,
  existingNode,
  placedOn,
  placementDraft,
  podAffinity,
  spreadOver,
} from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Draft } from '../draft.ts';

const pods = (count: number, spec: object = {}): Pod[] =>
  Array.from({ length: count }, (_, at) => testPod(`web-${at}`, '1', '1Gi', spec, { labels: { app: 'web' } }));

/** Puts all pods of a class on nodes with the first variant. Returns how many fit. */
function placeAll(draft: Draft): number {
  const podClass = classOf(draft, 'web-0');
  const [variant] = podClass.variants;
  return variant === undefined ? 0 : draft.onExisting.place(podClass, variant, podClass.pods);
}

function obstacleOn(draft: Draft, row: number): string | undefined {
  const podClass = classOf(draft, 'web-0');
  const [variant] = podClass.variants;
  return variant === undefined ? 'none' : draft.onExisting.obstacle(podClass, variant, row);
}

const PORT = { containers: [{ name: 'main', ports: [{ containerPort: 80, hostPort: 80 }] }] };

describe('placement on existing nodes', () => {
  it('fills nodes in order, each up to its room', () => {
    const draft = placementDraft(pods(5), { nodes: [existingNode('b', 'z1', 2), existingNode('a', 'z1', 2)] });
    expect(placeAll(draft)).toBe(4);
    expect(placedOn(draft)).toEqual({ a: ['web-0', 'web-1'], b: ['web-2', 'web-3'] });
    expect(obstacleOn(draft, 0)).toBe('resources');
  });

  it('fills initialized nodes before others', () => {
    const nodes = [existingNode('a', 'z1', 1, { initialized: false }), existingNode('b', 'z1', 1)];
    const draft = placementDraft(pods(1), { nodes });
    expect(placeAll(draft)).toBe(1);
    expect(placedOn(draft)).toEqual({ b: ['web-0'] });
  });

  it('avoids taints that the pods do not tolerate', () => {
    const taints = [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' as const }];
    const nodes = [existingNode('a', 'z1', 8, { taints }), existingNode('b', 'z1', 1)];
    const draft = placementDraft(pods(2), { nodes });
    expect(placeAll(draft)).toBe(1);
    expect(placedOn(draft)).toEqual({ b: ['web-0'] });
    const tolerant = placementDraft(pods(2, { tolerations: [{ operator: 'Exists' }] }), { nodes });
    expect(placeAll(tolerant)).toBe(2);
  });

  it('gives a host port to one pod per node, and none that is taken or reserved for a daemon', () => {
    const reserved = existingNode('c', 'z1', 8, { reservedPorts: [{ ip: '0.0.0.0', port: 80, protocol: 'TCP' }] });
    const taken = existingNode('b', 'z1', 8, { pods: [testPod('old', '1', '1Gi', PORT)] });
    const draft = placementDraft(pods(3, PORT), { nodes: [existingNode('a', 'z1', 8), taken, reserved] });
    expect(placeAll(draft)).toBe(1);
    expect(placedOn(draft)).toEqual({ a: ['web-0'] });
    expect([0, 1, 2].map((row) => obstacleOn(draft, row))).toEqual(['host-ports', 'host-ports', 'host-ports']);
  });

  it('puts one pod on a node when pods must run apart', () => {
    const nodes = [existingNode('a', 'z1', 8), existingNode('b', 'z1', 8)];
    const draft = placementDraft(pods(3, podAffinity('podAntiAffinity', Labels.hostname, 'web')), { nodes });
    expect(placeAll(draft)).toBe(2);
    expect(placedOn(draft)).toEqual({ a: ['web-0'], b: ['web-1'] });
    expect(obstacleOn(draft, 0)).toBe('topology');
  });

  it('stops where a spread allows no more', () => {
    const nodes = [existingNode('a', 'z1', 8), existingNode('b', 'z2', 1)];
    const draft = placementDraft(pods(5, spreadOver(Labels.zone, 'web')), { nodes, pools: [] });
    // One in z1, one in z2, one more in z1; then z2 is full.
    expect(placeAll(draft)).toBeLessThanOrEqual(3);
    for (let round = 0; round < 3; round++) placeAll(draft);
    expect(Object.values(placedOn(draft)).map(({ length }) => length)).toEqual([2, 1]);
  });

  it('attaches no more disks than a node may have', () => {
    const attachments = (pod: number): object => ({
      attachments: [{ driver: 'disk', claim: `claim-${pod}` }],
      alternatives: [],
    });
    const all = pods(3);
    const draft = placementDraft(all, {
      nodes: [existingNode('a', 'z1', 8, { volumeLimits: new Map([['disk', 2]]) })],
      volumes: new Map(all.map(({ metadata }, at) => [`default/${metadata.name}`, attachments(at) as never])),
    });
    const placed = draft.compiled.classes.map((podClass) => {
      const [variant] = podClass.variants;
      return variant === undefined ? 0 : draft.onExisting.place(podClass, variant, podClass.pods);
    });
    expect(placed.reduce((sum, count) => sum + count, 0)).toBe(2);
  });
});
