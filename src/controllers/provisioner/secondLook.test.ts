import { beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../api/kinds.ts';
import { Cluster } from '../../cluster/cluster.ts';
import type { PlannedNode } from '../../solver/problem.ts';
import { SecondLook } from './secondLook.ts';

const pod = (name: string): Pod => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [{ name: 'main' }] },
});
const planned = (...pods: readonly string[]): PlannedNode =>
  ({ pool: 'default', requirements: [], pods, requests: {}, alternatives: [] }) as never;

describe('a node for pods that have lost their places', () => {
  let cluster: Cluster;
  let look: SecondLook;
  /** The pods of nodes whose purchase is deferred. */
  const deferred = (plannedNodes: readonly PlannedNode[], now: number): readonly string[] => {
    const { solution, isOver } = look.at({ plannedNodes } as never, pod, now);
    const left = plannedNodes.filter((node) => !solution.plannedNodes.includes(node));
    expect(isOver).toBe(left.length === 0);
    return left.flatMap(({ pods }) => pods);
  };
  const bind = (name: string): void =>
    cluster.setPod({ ...pod(name), spec: { containers: [{ name: 'main' }], nodeName: 'n' } });

  beforeEach(() => {
    cluster = new Cluster();
    cluster.setNode({ metadata: { name: 'n' }, spec: { providerID: 'n' }, status: { allocatable: { cpu: '4' } } });
    for (const name of ['lost', 'other', 'fresh']) cluster.setPod(pod(name));
    cluster.places.hold('plan', [{ target: 'n', pods: [pod('lost'), pod('other')] }], 60_000);
    look = new SecondLook(cluster.places);
  });

  it('is not bought while others are still being bound', () => {
    expect(deferred([planned('lost')], 0)).toEqual(['lost']);
    bind('other');
    expect(deferred([planned('lost')], 1_000)).toEqual([]);
  });

  it('is bought in the end, whatever happens to the others', () => {
    for (const now of [0, 4_000, 9_999]) expect(deferred([planned('lost')], now)).toEqual(['lost']);
    expect(deferred([planned('lost')], 10_000)).toEqual([]);
  });

  it('is bought in the end even when the pods find other places in between, and lose them again', () => {
    expect(deferred([planned('lost')], 0)).toEqual(['lost']);
    cluster.places.hold('other plan', [{ target: 'n', pods: [pod('lost')] }], 60_000);
    expect(deferred([], 5_000)).toEqual([]);
    expect(deferred([planned('lost')], 9_999)).toEqual(['lost']);
    expect(deferred([planned('lost')], 10_000)).toEqual([]);
  });

  it('is bought at once when it is also for pods without any earlier place', () => {
    expect(deferred([planned('lost', 'fresh'), planned('fresh')], 0)).toEqual([]);
  });
});
