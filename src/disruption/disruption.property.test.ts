/**
 * Invariants for every cluster: commands strand no pod, respect budgets, save money, terminate, and are deterministic.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { podKey } from '../pods/podKey.ts';
import { addResources, fits, type Resources } from '../units/resources.ts';
import { podRequests } from '../pods/podRequests.ts';
import type { Command } from './command.ts';
import { drift } from './drift.ts';
import { emptiness } from './emptiness.ts';
import type { Method } from './method.ts';
import { METHODS } from './methods.ts';
import { multiNode } from './multiNode.ts';
import { singleNode } from './singleNode.ts';

const TYPES = [
  testType('t2', 2, 4, 0.1),
  testType('t4', 4, 8, 0.19),
  testType('m4', 4, 16, 0.24),
  testType('t8', 8, 16, 0.36),
];
const ZONES = ['z1', 'z2', 'z3'];

const arbitraryPod = fc.record({
  cpu: fc.integer({ min: 1, max: 18 }),
  memory: fc.integer({ min: 1, max: 30 }),
  app: fc.integer({ min: 0, max: 3 }),
  rule: fc.constantFrom('none', 'none', 'none', 'spread', 'apart', 'keep', 'zone'),
});
const arbitraryNode = fc.record({
  type: fc.constantFrom(...TYPES.map(({ name }) => name)),
  zone: fc.constantFrom(...ZONES),
  spot: fc.boolean(),
  drifted: fc.boolean(),
  age: fc.integer({ min: 0, max: 100 }),
  pods: fc.array(arbitraryPod, { maxLength: 6 }),
});
const arbitraryCluster = fc.record({
  nodes: fc.array(arbitraryNode, { minLength: 1, maxLength: 9 }),
  budget: fc.constantFrom('100%', '50%', '2', '1'),
  guarded: fc.integer({ min: 0, max: 4 }),
});
type Spec = typeof arbitraryCluster extends fc.Arbitrary<infer Value> ? Value : never;

function podOf(name: string, { cpu, memory, app, rule }: Spec['nodes'][number]['pods'][number], zone: string): Pod {
  const labelSelector = { matchLabels: { app: `app-${app}` } };
  return paperPod(name, {
    cpu: `${cpu}00m`,
    memory: `${memory}00Mi`,
    labels: { app: `app-${app}` },
    ...(rule === 'keep' && { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }),
    spec: {
      ...(rule === 'zone' && { nodeSelector: { 'topology.kubernetes.io/zone': zone } }),
      ...(rule === 'spread' && {
        topologySpreadConstraints: [
          { maxSkew: 2, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector },
        ],
      }),
      ...(rule === 'apart' && {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector }],
          },
        },
      }),
    },
  });
}

function clusterOf({ nodes, budget, guarded }: Spec): PaperCluster {
  const paper = new PaperCluster();
  paper.addPool(TYPES, {
    disruption: {
      consolidateAfter: '0s',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes: budget }],
    },
  });
  paper.podBudgets.push({
    metadata: { name: 'pdb', namespace: 'default' },
    spec: { selector: { matchLabels: { app: `app-${guarded}` } }, minAvailable: 1 },
    status: { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 },
  });
  nodes.forEach(({ type, zone, spot, drifted, age, pods }, at) => {
    paper.addNode({
      type,
      zone,
      capacityType: spot ? 'spot' : 'on-demand',
      age,
      ...(drifted && { driftedFor: 1 }),
      pods: pods.map((each, place) => podOf(`p${at}-${place}`, each, zone)),
    });
  });
  return paper;
}

const names = (command: Command): string[] => command.candidates.map(({ view }) => view.name);

function checkCommands(paper: PaperCluster, method: Method, commands: readonly Command[], guarded: string): void {
  const { pass } = paper.pass();
  const all = commands.flatMap(names);
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeLessThanOrEqual(pass.budgets.allowed('default', method.reason));
  for (const { candidates, replacements, onExisting, savingsPerHour } of commands) {
    const moved = candidates.flatMap(({ movable }) => movable.map(podKey)).sort();
    const planned = replacements.flatMap((each) => (each.kind === 'planned' ? each.plan.pods : []));
    expect([...planned, ...onExisting.flatMap(({ pods }) => pods)].sort()).toEqual(moved);
    for (const { pods } of candidates) {
      for (const { metadata } of pods) {
        expect(metadata.annotations).toBeUndefined();
        expect(metadata.labels?.['app']).not.toBe(guarded);
      }
    }
    for (const { node } of onExisting) expect(all).not.toContain(node);
    const isSaving =
      method.reason !== 'Underutilized' || (savingsPerHour > 0 && dearestOf(replacements) < priceOf(candidates));
    expect(isSaving).toBe(true);
  }
}

const priceOf = (candidates: Command['candidates']): number =>
  candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);

/** Price of replacements if each is the dearest that its plan allows. */
function dearestOf(replacements: Command['replacements']): number {
  const plans = replacements.flatMap((each) => (each.kind === 'planned' ? [each.plan] : []));
  return plans.reduce((sum, { alternatives }) => sum + Math.max(...alternatives.map((each) => each.pricePerHour)), 0);
}

/** No node holds more than it has. */
function checkRooms(paper: PaperCluster): void {
  for (const { allocatable, pods } of paper.cluster.snapshot().nodes) {
    const used = pods.reduce<Resources>((sum, pod) => addResources(sum, podRequests(pod)), {});
    expect(fits({ ...used }, allocatable)).toBe(true);
  }
}

/** Pods must fit on their nodes initially, or nothing can be said about the result. */
const fitting = arbitraryCluster.map((spec) => ({
  ...spec,
  nodes: spec.nodes.map((node) => {
    const [cpu, memory] = node.type === 't2' ? [18, 38] : node.type === 't8' ? [78, 155] : [38, 78];
    let used = [0, 0];
    const pods = node.pods.filter((pod) => {
      const next = [(used[0] ?? 0) + pod.cpu, (used[1] ?? 0) + pod.memory];
      if ((next[0] ?? 0) > cpu || (next[1] ?? 0) > memory) return false;
      used = next;
      return true;
    });
    return { ...node, pods };
  }),
}));

it.each(METHODS.map((method) => [method.name, method] as const))('%s keeps all invariants', (_, method) => {
  fc.assert(
    fc.property(fitting, (spec) => {
      const paper = clusterOf(spec);
      const decision = paper.decide(method);
      checkCommands(paper, method, decision.commands, `app-${spec.guarded}`);
      const gone = new Set(decision.commands.flatMap(names));
      // Every node has exactly one outcome.
      const { pass, kept } = paper.pass();
      expect(decision.kept.map(({ node = '' }) => node).sort()).toEqual(
        pass.candidates.map(({ view }) => view.name).filter((name) => !gone.has(name)),
      );
      expect(kept).toEqual([]);
      expect(paper.decide(method)).toEqual(decision);
      for (const command of decision.commands) paper.apply(command);
      checkRooms(paper);
      expect(paper.cluster.snapshot().pendingPods).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

it('terminates, with a bill that falls at every step', () => {
  fc.assert(
    fc.property(fitting, (spec) => {
      const paper = clusterOf({ ...spec, nodes: spec.nodes.map((node) => ({ ...node, drifted: false })) });
      let bill = paper.bill();
      for (let round = 0; ; round++) {
        expect(round).toBeLessThan(40);
        const commands = [emptiness, multiNode, singleNode]
          .map((method) => paper.decide(method).commands)
          .find((found) => found.length > 0);
        if (commands === undefined) break;
        for (const command of commands) paper.apply(command);
        expect(paper.bill()).toBeLessThan(bill);
        bill = paper.bill();
      }
      checkRooms(paper);
    }),
    { numRuns: 40 },
  );
});

it('drift ends without drifted nodes that could be removed', () => {
  fc.assert(
    fc.property(fitting, (spec) => {
      const paper = clusterOf({ ...spec, budget: '2' });
      for (let round = 0; round < 20; round++) {
        const { commands } = paper.decide(drift);
        if (commands.length === 0) break;
        for (const command of commands) paper.apply(command);
      }
      const { commands, kept } = paper.decide(drift);
      expect(commands).toEqual([]);
      const causes = kept.map(({ cause }) => cause.kind).filter((kind) => kind !== 'not-drifted');
      for (const kind of causes) expect(['do-not-disrupt-pod', 'pdb', 'would-strand']).toContain(kind);
    }),
    { numRuns: 60 },
  );
});
