import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { silentLog } from '../../kube/log.ts';
import { machine, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { WorldObserver } from './worldObserver.ts';

describe('WorldObserver', () => {
  let simulation: Simulation;
  const stop = new AbortController();
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(machine('one', { labels: { 'node.kubernetes.io/instance-type': 'Standard_D4s_v5' } }));
  });
  afterEach(async () => {
    stop.abort();
    await simulation.stop();
  });

  it("shows prices, and nodewright's own reason for a waiting pod rather than the scheduler's", async () => {
    const { kube, clock } = simulation;
    const observer = new WorldObserver({
      kube,
      clock,
      log: silentLog,
      faults: simulation.world.faults,
      price: (instanceType) => (instanceType === 'Standard_D4s_v5' ? 0.192 : undefined),
      title: '',
      hints: [],
    });
    const running = observer.run(stop.signal);
    const pod = await simulation.create(Kinds.Pod, {
      metadata: { name: 'big', namespace: 'default' },
      spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '500' } } }] },
    });
    await simulation.advance(10_000);
    expect(observer.facts().waiting[0]?.reason).toMatch(/^0\/1 nodes are available/);
    await simulation.create(Kinds.Event, {
      metadata: { name: 'big.1', namespace: 'default' },
      involvedObject: { kind: 'Pod', name: 'big', namespace: 'default', uid: pod.metadata.uid ?? '' },
      reason: 'FailedScheduling',
      message: 'Failed to schedule pod, no instance type has 500 cpu',
      source: { component: 'karpenter' },
      type: 'Warning',
    });
    await simulation.advance(1_000);
    const { waiting, nodes } = observer.facts();
    expect(waiting).toEqual([{ owner: 'big', count: 1, reason: 'no instance type has 500 cpu' }]);
    expect(nodes.map(({ name, price }) => [name, price])).toEqual([['one', 0.192]]);
    stop.abort();
    await running;
  });
});
