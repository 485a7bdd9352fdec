import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type Node } from '../../api/kinds.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { isConflict } from '../../kube/errors.ts';
import { Informers } from '../../kube/informer.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { isReady } from '../workloads/podState.ts';
import { parseFault } from './faultKinds.ts';
import { faultyKube } from './apiFaults.ts';
import { skewedClock } from './skewedClock.ts';

async function deploy(simulation: Simulation, name: string, replicas: number, spec: object = {}): Promise<void> {
  const labels = { app: name };
  await simulation.create(Kinds.Deployment, {
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec } },
    },
  });
}

describe('faults in a world', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one'), instance('two'));
  });
  afterEach(() => simulation.stop());

  const readyOf = ({ status }: Node): string | undefined =>
    status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  const node = (name: string): Promise<Node> => simulation.kube.get(Kinds.Node, { name });

  it('silence a kubelet: its node becomes unreachable, its pods move, and the node recovers', async () => {
    await deploy(simulation, 'web', 4);
    await simulation.until(async () => (await simulation.pods()).filter(isReady).length === 4);
    simulation.world.faults.add(parseFault('silent-kubelet node=one for=10m'));
    await simulation.advance(75_000);
    expect(readyOf(await node('one'))).toBe('Unknown');
    expect((await node('one')).spec?.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ]);
    await simulation.advance(310_000);
    const moved = (await simulation.pods()).filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp);
    expect(moved.map(({ spec }) => spec?.nodeName)).toEqual(['two', 'two', 'two', 'two']);
    await simulation.advance(300_000);
    expect(readyOf(await node('one'))).toBe('True');
    expect((await node('one')).spec?.taints ?? []).toEqual([]);
    expect((await simulation.pods()).filter(({ metadata }) => metadata.deletionTimestamp)).toEqual([]);
  });

  it('cut watches and refuse writes with conflicts, and an informer still has all objects', async () => {
    const { faults } = simulation.world;
    const kube = faultyKube(simulation.kube, faults);
    const informers = new Informers({
      kube,
      clock: simulation.clock,
      random: new SeededRandom(2),
      onError: () => undefined,
    });
    const pods = informers.of(Kinds.Pod);
    const stop = new AbortController();
    const running = informers.run(stop.signal);
    faults.add(parseFault('watch-drop share=0.2'));
    faults.add(parseFault('watch-gone share=0.1'));
    faults.add(parseFault('slow-api share=0.3 by=500ms'));
    await deploy(simulation, 'web', 20);
    await simulation.advance(300_000);
    faults.clear();
    faults.add(parseFault('conflict kind=Node count=1'));
    const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
    await expect(kube.patch(Kinds.Node, { name: 'one' }, patch)).rejects.toSatisfy(isConflict);
    await kube.patch(Kinds.Node, { name: 'one' }, patch);
    const names = [...pods.store.list()].map(({ metadata }) => metadata.name).sort();
    expect(names).toEqual((await simulation.pods()).map(({ metadata }) => metadata.name));
    expect(names).toHaveLength(20);
    stop.abort();
    await running;
  });

  it('skew the time of day but not durations', () => {
    const { faults } = simulation.world;
    const clock = skewedClock(simulation.clock, faults);
    faults.add(parseFault('clock-skew by=-90s'));
    expect(clock.now()).toBe(simulation.clock.now() - 90_000);
    expect(clock.monotonic()).toBe(simulation.clock.monotonic());
    faults.clear();
    expect(clock.now()).toBe(simulation.clock.now());
  });
});

const EVERYTHING = [
  Kinds.Node,
  Kinds.Pod,
  Kinds.Event,
  Kinds.Lease,
  Kinds.Deployment,
  Kinds.ReplicaSet,
  Kinds.Job,
  Kinds.PersistentVolume,
  Kinds.VolumeAttachment,
];

/** Simulates two hours of workloads, silent kubelets and instances that leave; returns a fingerprint of all objects. */
async function history(seed: number): Promise<string> {
  const simulation = new Simulation(seed);
  const { faults } = simulation.world;
  const zones = [1, 2, 3];
  await simulation.boot(...zones.map((zone) => instance(`n${zone}`, { zone: `eastus-${zone}` })));
  faults.add(parseFault('silent-kubelet for=4m'));
  await deploy(simulation, 'web', 12);
  await simulation.create(Kinds.CronJob, {
    metadata: { name: 'tick', namespace: 'default' },
    spec: {
      schedule: '*/10 * * * *',
      jobTemplate: {
        spec: {
          completions: 3,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'worker' }] } },
        },
      },
    },
  });
  await simulation.advance(3_600_000);
  faults.add(parseFault('silent-kubelet share=0.5 for=20m'));
  simulation.world.powerOff('n2');
  await simulation.boot(instance('n4'));
  await simulation.advance(3_600_000);
  const print = await simulation.fingerprint(EVERYTHING);
  await simulation.stop();
  return print;
}

describe('the same seed', () => {
  it('gives the same history to the byte', async () => {
    const [first, again, other] = [await history(11), await history(11), await history(12)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });
});
