import { describe, expect, it } from 'vitest';
import {
  classOf,
  existingNode,
  placementDraft,
  podAffinity,
  spreadOver,
} from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import type { Draft } from '../draft.ts';

const CLUSTER = { nodes: ['z1', 'z2', 'z3'].map((zone) => existingNode(`node-${zone}`, zone, 8)) };

const ON_DEMAND = { [Labels.capacityType]: 'on-demand' };

const web = (spec: object): ReturnType<typeof testPod> => testPod('web', '1', '1Gi', spec, { labels: { app: 'web' } });

/** Zones of existing nodes that the first variant of the class allows now. */
function openZones(draft: Draft, pod: string): string[] {
  const { compiled, domains } = draft;
  const { variants } = classOf(draft, pod);
  return compiled.model.existing.nodes.flatMap(({ labels }, row) =>
    variants[0] !== undefined && domains.allowsNode(variants[0], row) ? [labels[Labels.zone] ?? ''] : [],
  );
}

function record(draft: Draft, pod: string, zone: string, times = 1): void {
  const row = draft.compiled.model.existing.nodes.findIndex(({ labels }) => labels[Labels.zone] === zone);
  const podClass = classOf(draft, pod);
  const [variant] = podClass.variants;
  if (variant !== undefined) draft.domains.recordOnNode(podClass, variant, row, times);
}

describe('domains', () => {
  it('allow a spread only where the skew is kept, and count every recorded pod', () => {
    const draft = placementDraft([web(spreadOver(Labels.zone, 'web'))], CLUSTER);
    expect(openZones(draft, 'web')).toEqual(['z1', 'z2', 'z3']);
    record(draft, 'web', 'z1');
    expect(openZones(draft, 'web')).toEqual(['z2', 'z3']);
    record(draft, 'web', 'z2');
    record(draft, 'web', 'z3');
    expect(openZones(draft, 'web')).toEqual(['z1', 'z2', 'z3']);
  });

  it('keep a wider skew if the pod allows it', () => {
    const draft = placementDraft([web(spreadOver(Labels.zone, 'web', 2))], CLUSTER);
    record(draft, 'web', 'z1', 2);
    expect(openZones(draft, 'web')).toEqual(['z2', 'z3']);
    record(draft, 'web', 'z2', 1);
    expect(openZones(draft, 'web')).toEqual(['z2', 'z3']);
  });

  it('close a zone to pods with anti-affinity to their own kind once one is there', () => {
    const draft = placementDraft([web(podAffinity('podAntiAffinity', Labels.zone, 'web'))], CLUSTER);
    record(draft, 'web', 'z2');
    expect(openZones(draft, 'web')).toEqual(['z1', 'z3']);
  });

  it('keep pods with affinity to their own kind where the first of them went', () => {
    const draft = placementDraft([web(podAffinity('podAffinity', Labels.zone, 'web'))], CLUSTER);
    expect(openZones(draft, 'web')).toEqual(['z1', 'z2', 'z3']);
    record(draft, 'web', 'z3');
    expect(openZones(draft, 'web')).toEqual(['z3']);
  });

  it('open no zone to pods with affinity to pods that are not there', () => {
    const draft = placementDraft([web(podAffinity('podAffinity', Labels.zone, 'other'))], CLUSTER);
    expect(openZones(draft, 'web')).toEqual([]);
  });

  it('count pods that already run', () => {
    const running = testPod('old', '1', '1Gi', {}, { labels: { app: 'web' } });
    const nodes = CLUSTER.nodes.map((node, at) => (at === 0 ? { ...node, pods: [running] } : node));
    const draft = placementDraft([web(spreadOver(Labels.zone, 'web'))], { nodes });
    expect(openZones(draft, 'web')).toEqual(['z2', 'z3']);
  });

  it('refuse a spread on nodes without the label, and allow anti-affinity there', () => {
    const bare = { ...existingNode('bare', 'z1', 8), labels: {} };
    const spread = placementDraft([web(spreadOver(Labels.zone, 'web'))], { nodes: [bare] });
    expect(openZones(spread, 'web')).toEqual([]);
    const apart = placementDraft([web(podAffinity('podAntiAffinity', Labels.zone, 'web'))], { nodes: [bare] });
    expect(openZones(apart, 'web')).toEqual(['']);
  });

  it('pin a new node to the cheapest allowed zone', () => {
    // Each zone is one percent dearer than the previous one.
    const nodes = CLUSTER.nodes.map((node) => ({ ...node, labels: { ...node.labels, ...ON_DEMAND } }));
    const draft = placementDraft([web({ ...spreadOver(Labels.zone, 'web'), nodeSelector: ON_DEMAND })], { nodes });
    const pinned = (): readonly string[] => {
      const podClass = classOf(draft, 'web');
      const [variant] = podClass.variants;
      if (variant === undefined) return [];
      const [start = -1] = draft.fit.startsOf(podClass, variant, 0);
      const state = draft.domains.pin(variant, start, draft.fit.costOf(podClass));
      return draft.compiled.model.states.valuesOf(state, Labels.zone);
    };
    expect(pinned()).toEqual(['z1']);
    record(draft, 'web', 'z1');
    expect(pinned()).toEqual(['z2']);
  });
});
