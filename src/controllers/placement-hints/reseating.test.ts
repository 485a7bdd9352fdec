import { beforeEach, describe, expect, it } from 'vitest';
import type { Node, Pod } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { subtractResources } from '../../units/resources.ts';
import { reseat } from './reseating.ts';

const NOW = 1_000;

const node = (name: string, labels: Record<string, string> = {}): Node => ({
  metadata: { name, labels },
  spec: { providerID: name },
  status: { capacity: { cpu: '4', pods: '10' }, allocatable: { cpu: '4', pods: '10' } },
});

const pod = (name: string, cpu: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }], ...spec },
});

describe('pods whose node was taken by another pod', () => {
  let cluster: Cluster;
  const expectOn = (target: string, ...pods: Pod[]): void => {
    for (const each of pods) cluster.setPod(each);
    cluster.places.hold('plan', [{ target, pods }], 60_000);
  };
  const bind = (each: Pod, nodeName: string): void => {
    cluster.setPod({ ...each, spec: { containers: [], ...each.spec, nodeName } });
  };
  const placeOf = (each: Pod): string | undefined => {
    const place = cluster.places.of(each, NOW);
    return place && cluster.places.viewOf(place)?.name;
  };
  const makeRoom = (name: string): number =>
    reseat({ cluster, freeOn: ({ allocatable, requested }) => subtractResources(allocatable, requested) }, name, NOW);

  beforeEach(() => {
    cluster = new Cluster();
    for (const name of ['x', 'y']) cluster.setNode(node(name));
  });

  it('are expected where that pod was expected', () => {
    const [stray, first, second] = [pod('stray', '2'), pod('first', '2'), pod('second', '2')];
    expectOn('x', stray, pod('third', '2'));
    expectOn('y', first, second);
    bind(stray, 'y');
    expect(makeRoom('y')).toBe(1);
    expect(new Set([placeOf(first), placeOf(second)])).toEqual(new Set(['x', 'y']));
  });

  it('exchange places with others when none fits alone', () => {
    const [stray, large, small] = [pod('stray', '1500m'), pod('large', '2500m'), pod('small', '1')];
    expectOn('x', stray, small, pod('middle', '1500m'));
    expectOn('y', large, pod('other', '1500m'));
    bind(stray, 'y');
    expect(makeRoom('y')).toBeGreaterThan(0);
    for (const name of ['x', 'y']) {
      const asked = cluster.places.on(name).reduce((sum, place) => {
        const { cpu = '' } = place.pod.spec?.containers[0]?.resources?.requests ?? {};
        return sum + (cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1_000);
      }, 0);
      expect(asked).toBeLessThanOrEqual(name === 'y' ? 2_500 : 4_000);
    }
  });

  it('stay when they still have room', () => {
    const [stray, first] = [pod('stray', '1'), pod('first', '2')];
    expectOn('x', stray);
    expectOn('y', first);
    bind(stray, 'y');
    expect(makeRoom('y')).toBe(0);
    expect(placeOf(first)).toBe('y');
  });

  it('that must spread go only to nodes of their domain', () => {
    cluster.setNode(node('x', { zone: 'a' }));
    cluster.setNode(node('y', { zone: 'b' }));
    const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    const spread = pod('spread', '3', { topologySpreadConstraints: [constraint] });
    const stray = pod('stray', '2');
    expectOn('x', stray);
    expectOn('y', spread);
    bind(stray, 'y');
    expect([makeRoom('y'), placeOf(spread)]).toEqual([0, 'y']);
    cluster.setNode(node('z', { zone: 'b' }));
    expect([makeRoom('y'), placeOf(spread)]).toEqual([1, 'z']);
  });

  it('that must spread go to another domain where all stay as even as they must be', () => {
    cluster.setNode(node('x', { zone: 'a' }));
    cluster.setNode(node('y', { zone: 'b' }));
    const labelSelector = { matchLabels: { app: 'web' } };
    const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector };
    const web = (name: string, cpu: string): Pod => {
      const made = pod(name, cpu, { topologySpreadConstraints: [constraint] });
      return { ...made, metadata: { ...made.metadata, labels: { app: 'web' } } };
    };
    const [stray, moving, other] = [pod('stray', '3'), web('moving', '3'), web('other', '100m')];
    expectOn('x', stray, other);
    expectOn('y', moving);
    bind(stray, 'y');
    // Both would be in one zone.
    expect([makeRoom('y'), placeOf(moving)]).toEqual([0, 'y']);
    cluster.setNode(node('z', { zone: 'b' }));
    expectOn('z', web('third', '3500m'));
    expect([makeRoom('y'), placeOf(moving)]).toEqual([1, 'x']);
  });

  it('stay when rules bind them to their node', () => {
    const stray = pod('stray', '2');
    const bound = [
      pod('chosen', '2', { nodeSelector: { 'kubernetes.io/hostname': 'y' } }),
      pod('apart', '2', { affinity: { podAntiAffinity: {} } }),
    ];
    expectOn('x', stray);
    expectOn('y', ...bound);
    bind(stray, 'y');
    expect(makeRoom('y')).toBe(0);
    expect(bound.map(placeOf)).toEqual(['y', 'y']);
  });

  it('are expected on a node that has not joined yet, unless they select on labels that it may not get', () => {
    const claim = (name: string): NodeClaim => ({
      metadata: { name, uid: name },
      spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, requirements: [], expireAfter: 'Never' },
      status: { providerID: name, capacity: { cpu: '4', pods: '10' }, allocatable: { cpu: '4', pods: '10' } },
    });
    for (const [at, spec] of [{}, { nodeSelector: { disk: 'fast' } }].entries()) {
      cluster.setClaim(claim(`coming-${at}`));
      const [stray, late] = [pod(`stray-${at}`, '3'), pod(`late-${at}`, '3', spec)];
      expectOn(`coming-${at}`, stray);
      expectOn('x', late);
      bind(stray, 'x');
      expect(makeRoom('x')).toBe(at === 0 ? 1 : 0);
      expect(placeOf(late)).toBe(at === 0 ? 'coming-0' : 'x');
      cluster = new Cluster();
      cluster.setNode(node('x', { disk: 'fast' }));
    }
  });

  it('make a pod of another node move on to a third', () => {
    cluster.setNode(node('z'));
    const [stray, large, small] = [pod('stray', '3'), pod('large', '3'), pod('small', '1500m')];
    expectOn('x', pod('first', '1'), small);
    expectOn('y', large);
    expectOn('z', stray, pod('second', '1'));
    bind(pod('other', '1500m'), 'z');
    bind(stray, 'y');
    expect(makeRoom('y')).toBe(2);
    expect([placeOf(large), placeOf(small)]).toEqual(['x', 'z']);
  });
});
