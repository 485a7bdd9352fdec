import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Labels, Taints } from '../../api/labels.ts';
import type { Candidate } from '../../disruption/candidate.ts';
import type { Command } from '../../disruption/command.ts';
import { recordText } from '../../ledger/recordText.ts';
import type { PlannedNode } from '../../solver/problem.ts';
import { EvictionQueue } from '../eviction-queue/controller.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodeTerminationController } from '../node-termination/controller.ts';
import type { World } from '../world/world.ts';
import { DisruptionQueue } from './controller.ts';

const MINUTE = 60_000;

let bench: Workbench;
let world: World;
let queue: DisruptionQueue;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: (engine) => {
      world = engine.world;
      queue = new DisruptionQueue(world);
      const evictions = new EvictionQueue(world);
      return [
        queue.controller(),
        nodeClaimLifecycleController(world),
        nodeTerminationController(world, evictions),
        evictions.controller(),
      ];
    },
    pace: { boot: 5_000, ready: 1_000 },
  });
  await bench.createPool();
  for (const name of ['a', 'b']) await bench.createClaim(name);
  await bench.advance(MINUTE);
});
afterEach(() => bench.close());

const signal = new AbortController().signal;

function candidate(name: string): Candidate {
  const view = world.cluster.viewOf(name);
  const pool = world.informers.nodePools.store.get({ name: 'default' });
  if (!view?.node || !view.claim || !pool) throw new Error(`${name} is not there`);
  return {
    view: view as Candidate['view'],
    pool,
    instanceType: bench.cloud.types[0],
    zone: view.labels[Labels.zone],
    capacityType: view.labels[Labels.capacityType],
    pricePerHour: 0.1,
    pods: view.pods,
    movable: view.pods,
    disruptionCost: 1,
    savingsRatio: 1,
    driftedSince: undefined,
    heldBy: undefined,
  };
}

const planned: PlannedNode = {
  pool: 'default',
  requirements: [],
  pods: [],
  requests: { cpu: '1', pods: '1' },
  alternatives: [{ instanceType: 'm2', zone: 'zone-1', capacityType: 'on-demand', pricePerHour: 0.1 }],
  minValuesRelaxed: false,
};

const command = (names: readonly string[], replacements: number): Command => ({
  reason: 'Drifted',
  consolidationType: '',
  candidates: names.map(candidate),
  replacements: Array.from({ length: replacements }, () => ({ kind: 'planned', plan: planned })),
  onExisting: [],
  savingsPerHour: 0,
  evictions: 0,
});

const isTainted = async (claim: string): Promise<boolean> => {
  const node = await bench.find(Kinds.Node, `node-${claim}`);
  return (node?.spec?.taints ?? []).some(({ key }) => key === Taints.disrupted.key);
};
const names = async (): Promise<string[]> => (await bench.claims()).map(({ metadata }) => metadata.name);
const marks = async (claim: string) => [await isTainted(claim), await bench.condition(claim, 'DisruptionReason')];
const failures = () =>
  bench.metrics.value('karpenter_voluntary_disruption_queue_failures_total', {
    decision: 'replace',
    reason: 'drifted',
  });

describe('a command', () => {
  it('marks its nodes, waits for replacements, and deletes the claims only then', async () => {
    await queue.start(command(['a'], 1), signal);
    expect(await marks('a')).toEqual([true, 'True Drifted']);
    expect(world.cluster.viewOf('a')?.deleting).toBe(true);
    expect(queue.has('a')).toBe(true);
    expect(await names()).toHaveLength(3);
    await bench.advance(4_000);
    expect((await bench.claim('a')).metadata.deletionTimestamp).toBeUndefined();
    await bench.advance(MINUTE);
    expect(await names()).not.toContain('a');
    expect(await names()).toHaveLength(2);
    expect(queue.has('a')).toBe(false);
    for (const reason of ['DisruptionLaunching', 'DisruptionWaitingReadiness', 'DisruptionTerminating']) {
      expect(await bench.events(reason)).not.toEqual([]);
    }
    expect(world.ledger.entries().map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['disruption', 'disruption-end']),
    );
    const launches = world.ledger.entries().flatMap((entry) => (entry.kind === 'launch' ? [entry] : []));
    expect(launches.map(recordText)).toEqual([
      expect.stringMatching(/^NodeClaim default-\w+ of NodePool default: m2 in zone-1, .*, in place of others$/),
    ]);
    expect(world.ledger.entries()).toContainEqual(
      expect.objectContaining({ kind: 'disruption', command: launches[0]?.command }),
    );
  });

  it('is reverted when a replacement is deleted, and its pool is paused', async () => {
    bench.cloud.joins = false;
    await queue.start(command(['a', 'b'], 1), signal);
    const replacement = (await names()).find((name) => name.startsWith('default-')) ?? '';
    await bench.advance(10_000);
    await bench.kube.delete(Kinds.NodeClaim, { name: replacement });
    await bench.advance(10_000);
    for (const name of ['a', 'b']) expect(await marks(name)).toEqual([false, undefined]);
    expect(world.cluster.viewOf('a')?.deleting).toBe(false);
    expect(queue.has('a')).toBe(false);
    expect(failures()).toBe(1);
    expect(queue.pauses.until('default')).toBeGreaterThan(bench.clock.now());
    const tried = { instanceType: 'm2', zone: 'zone-1', capacityType: 'on-demand' };
    expect(queue.pauses.offeringUntil('default', tried)).toBeGreaterThan(bench.clock.now());
    expect(queue.pauses.offeringUntil('default', { ...tried, zone: 'zone-2' })).toBeUndefined();
    await bench.advance(MINUTE);
    expect(queue.pauses.until('default')).toBeUndefined();
    await bench.advance(15 * MINUTE);
    expect(queue.pauses.offeringUntil('default', tried)).toBeUndefined();
  });

  it('is reverted after ten minutes, and its replacement stays', async () => {
    bench.cloud.joins = false;
    await queue.start(command(['a'], 1), signal);
    await bench.advance(9.9 * MINUTE);
    expect(await marks('a')).toEqual([true, 'True Drifted']);
    await bench.advance(0.2 * MINUTE);
    expect(await marks('a')).toEqual([false, undefined]);
    expect(await names()).toHaveLength(3);
    expect(failures()).toBe(1);
  });

  it('that cannot have all its replacements leaves none, and no mark', async () => {
    await bench.kube.patch(
      Kinds.NodePool,
      { name: 'default' },
      { type: 'merge', body: { spec: { limits: { nodes: '2' } } } },
    );
    await bench.clock.idle();
    // The second and third exceed the limit.
    await expect(queue.start(command(['a'], 3), signal)).rejects.toThrow(/limit/);
    await bench.advance(MINUTE);
    expect(await names()).toEqual(['a', 'b']);
    expect(await marks('a')).toEqual([false, undefined]);
  });

  it('without replacements continues when one of its Nodes is gone', async () => {
    const both = command(['a', 'b'], 0);
    await bench.kube.patch(Kinds.Node, { name: 'node-a' }, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await bench.kube.delete(Kinds.Node, { name: 'node-a' });
    await queue.start(both, signal);
    await bench.advance(MINUTE);
    expect(await names()).not.toContain('b');
  });

  it('is refused for a node that belongs to another command', async () => {
    bench.cloud.joins = false;
    await queue.start(command(['a'], 1), signal);
    await expect(queue.start(command(['a', 'b'], 0), signal)).rejects.toThrow(/already/);
    expect(await marks('b')).toEqual([false, undefined]);
  });

  it('ends when its nodes are gone before their replacement is there', async () => {
    await queue.start(command(['a'], 1), signal);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(1_000);
    expect(queue.has('a')).toBe(false);
    expect(failures()).toBeUndefined();
  });
});

describe('a restarted process', () => {
  it('resumes a command that waits for its replacement', async () => {
    await queue.start(command(['a'], 1), signal);
    await bench.advance(1_000);
    await bench.stopEngine();
    bench.startEngine();
    await bench.clock.idle();
    queue.resume();
    await queue.sweep();
    expect(queue.has('a')).toBe(true);
    expect(await marks('a')).toEqual([true, 'True Drifted']);
    await bench.advance(MINUTE);
    expect(await names()).not.toContain('a');
    expect(await names()).toHaveLength(2);
  });

  it('removes the marks of nodes when there is nothing to wait for', async () => {
    bench.cloud.joins = false;
    await queue.start(command(['a'], 1), signal);
    const replacement = (await names()).find((name) => name.startsWith('default-')) ?? '';
    await bench.stopEngine();
    await bench.kube.patch(
      Kinds.NodeClaim,
      { name: replacement },
      { type: 'merge', body: { metadata: { finalizers: [] } } },
    );
    await bench.kube.delete(Kinds.NodeClaim, { name: replacement });
    bench.startEngine();
    await bench.clock.idle();
    queue.resume();
    expect(queue.has('a')).toBe(false);
    await queue.sweep();
    expect(await marks('a')).toEqual([false, undefined]);
  });

  it('does not resume a command that was reverted', async () => {
    bench.cloud.joins = false;
    await queue.start(command(['a'], 1), signal);
    await bench.advance(11 * MINUTE);
    await bench.stopEngine();
    bench.startEngine();
    await bench.clock.idle();
    queue.resume();
    expect(queue.has('a')).toBe(false);
  });
});
