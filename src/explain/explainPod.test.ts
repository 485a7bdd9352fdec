import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyProblem } from '../../test/fixtures/solver/randomCluster.ts';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import type { Pod } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { Explanation, Patch } from '../ledger/explanation.ts';
import { podKey } from '../pods/podKey.ts';
import { Model } from '../solver/model/model.ts';
import type { Problem } from '../solver/problem.ts';
import { ask } from '../solver/solve.ts';
import { parseResources } from '../units/resources.ts';
import { explainPod, type PodQuestion } from './explainPod.ts';
import { forAll } from './forAll.ts';

const OPTIONS = { searchRounds: 1, preferencePolicy: 'Ignore' } as const;

function questionOf(problem: Problem, pod: Pod): PodQuestion {
  const { pools } = problem;
  const overlay = { pods: problem.pods };
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'owner' };
  return {
    pod,
    source: { target, templatePath: ['spec', 'template'], spec: pod.spec ?? { containers: [] } },
    asked: {
      pools,
      overlay,
      options: OPTIONS,
      solution: ask(Model.of(problem), overlay, OPTIONS),
      ask: (again, options, offers) => ask(Model.of({ ...problem, pools: offers }), again, options),
    },
  };
}

/** RFC 7386. */
function merge(value: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = { ...(value as object | undefined) };
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete merged[key];
    else merged[key] = merge(merged[key], change);
  }
  return merged;
}

/** The problem after `kubectl patch` of everything in the fix. */
function patched(problem: Problem, pod: Pod, patches: readonly Patch[]): Problem {
  let owner: unknown = { spec: { template: { spec: pod.spec } } };
  let { pools } = problem;
  for (const { target, patch } of patches) {
    if (target.kind === 'Deployment') owner = merge(owner, patch);
    else {
      pools = pools.map((offer) =>
        offer.pool.metadata.name === target.name ? { ...offer, pool: merge(offer.pool, patch) as NodePool } : offer,
      );
    }
  }
  const { spec } = (owner as { spec: { template: { spec: NonNullable<Pod['spec']> } } }).spec.template;
  return { ...problem, pools, pods: problem.pods.map((each) => (each === pod ? { ...pod, spec } : each)) };
}

/** The same when all pods use the patched template. */
function patchedAll(problem: Problem, pods: readonly Pod[], patches: readonly Patch[]): Problem {
  return pods.reduce((before, pod) => ({ ...patched(before, pod, patches), pools: before.pools }), {
    ...problem,
    pools: patched(problem, pods[0] as Pod, patches).pools,
  });
}

const unplacedIn = (problem: Problem): Set<string> =>
  new Set(ask(Model.of(problem), { pods: problem.pods }, OPTIONS).unplaced.map(({ pod }) => pod));

describe('an unplaced pod', () => {
  it('has a constraint, and every reported fix gives it a place', { timeout: 120_000 }, () => {
    const samples = fc.sample(anyProblem, { numRuns: 60, seed: 99 });
    let explained = 0;
    let fixed = 0;
    const wrong: unknown[] = [];
    samples.forEach((problem, at) => {
      const unplaced = unplacedIn(problem);
      const pod = problem.pods.find((each) => unplaced.has(podKey(each)));
      if (pod === undefined) return;
      const { sentence, constraint, fixes } = explainPod(questionOf(problem, pod));
      // For a group, the constraint is that of another member.
      if (constraint === 'group') return;
      explained++;
      if (sentence === '' || constraint === '') wrong.push({ at, sentence, constraint });
      if (fixes.length > 0) fixed++;
      for (const fix of fixes) {
        if (unplacedIn(patched(problem, pod, fix.patches)).has(podKey(pod))) wrong.push({ at, fix });
      }
    });
    expect(wrong).toEqual([]);
    expect(fixed / explained).toBeGreaterThan(0.85);
    expect(explained).toBeGreaterThan(10);
  });
});

describe('the explanation', () => {
  const types = [testType('small', 2, 4, 0.1), testType('large', 8, 32, 0.4)];
  const problemOf = (pod: Pod, pool: NodePool): Problem => ({
    pods: [pod],
    pools: [{ pool, instanceTypes: types, used: {} }],
    nodes: [],
    daemons: [],
  });
  const explained = (pod: Pod, pool = testPool('general')): Explanation =>
    explainPod(questionOf(problemOf(pod, pool), pod));

  it('names the selector that nothing meets, and both objects that could change', () => {
    const { constraint, fixes } = explained(testPod('a', '1', '1Gi', { nodeSelector: { team: 'blue' } }));
    expect(constraint).toBe('requirements');
    expect(fixes.map(({ patches }) => patches)).toEqual([
      [
        {
          target: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'owner' },
          type: 'merge',
          patch: { spec: { template: { spec: { nodeSelector: { team: null } } } } },
        },
      ],
      [
        {
          target: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'general' },
          type: 'merge',
          patch: { spec: { template: { metadata: { labels: { team: 'blue' } } } } },
        },
      ],
    ]);
  });

  it('combines changes where one is not enough', () => {
    const { fixes } = explained(testPod('a', '100', '1Gi', { nodeSelector: { team: 'blue' } }));
    expect(fixes.map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/^drop team=blue from nodeSelector, and request .* cpu less, to fit on large$/),
    ]);
  });

  it('reports the missing requirement of one group member, and what would place all of them', () => {
    const grouped = (name: string): Pod =>
      testPod(
        name,
        '1',
        '1Gi',
        { nodeSelector: { team: 'blue' } },
        { annotations: { 'nodewright.dev/pod-group': 'g' } },
      );
    const pods = [grouped('a'), grouped('b')];
    const [pod] = pods as [Pod];
    const problem: Problem = { ...problemOf(pod, testPool('general')), pods };
    const { constraint, fixes, evidence } = explainPod(questionOf(problem, pod));
    expect(constraint).toBe('group');
    expect(evidence.join()).toContain('team');
    expect(fixes.map(({ sentence }) => sentence)).toContain('drop team=blue from nodeSelector');
  });

  it('advises to recreate a pod when only its spec could help and its creator is unknown', () => {
    const pod = testPod('a', '100', '1Gi');
    const question = questionOf(problemOf(pod, testPool('general')), pod);
    const target = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a' };
    const source = { ...question.source, target, templatePath: [] };
    const [fix, ...more] = explainPod({ ...question, source }).fixes;
    expect(more).toEqual([]);
    expect(fix).toMatchObject({ patches: [] });
    expect(fix?.sentence).toMatch(/^delete the pod and create it again: request /);
  });

  it('deletes and recreates a pod without an owner, unless a toleration is enough', () => {
    const target = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a' };
    const fixesOf = (pod: Pod, pool: NodePool): Explanation['fixes'] => {
      const question = questionOf(problemOf(pod, pool), pod);
      const remake = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'default' }, spec: pod.spec };
      const source = { target, templatePath: [], spec: pod.spec ?? { containers: [] }, remake };
      return explainPod({ ...question, source }).fixes;
    };
    const [large] = fixesOf(testPod('a', '100', '1Gi', { nodeSelector: { team: 'blue' } }), testPool('general'));
    expect(large?.patches).toMatchObject([
      { target, type: 'delete', patch: {} },
      { target, type: 'create', patch: { kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{}] } } },
    ]);
    const taints = [{ key: 'only', value: 'gpu', effect: 'NoSchedule' as const }];
    const [barred] = fixesOf(testPod('a', '1', '1Gi'), testPool('general', { taints }));
    expect(barred?.patches).toMatchObject([{ target, type: 'merge', patch: { spec: { tolerations: [{}] } } }]);
  });

  it('gives a place to all waiting pods of the owner, not just to one', () => {
    const pods = [testPod('a', '8', '1Gi'), testPod('b', '8', '1Gi'), testPod('c', '8', '1Gi')];
    const [pod] = pods as [Pod];
    const limits = { cpu: '0' };
    const problem: Problem = { ...problemOf(pod, testPool('general', {}, { limits })), pods };
    const question = questionOf(problem, pod);
    const siblings = new Set(pods.slice(1).map(podKey));
    const [fix] = explainPod({
      ...question,
      askedForFixes: forAll(question.asked, { pod, siblings, inSteps: false }),
    }).fixes;
    expect(unplacedIn(patchedAll(problem, pods, fix?.patches ?? []))).toEqual(new Set());
  });

  it('raises a limit further when a subsequent change lets the pod need more', () => {
    const affinity = {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'topology.kubernetes.io/zone', labelSelector: { matchLabels: { app: 'nothing' } } },
        ],
      },
    };
    const pods = [testPod('a', '8', '1Gi', { affinity }), testPod('b', '1', '1Gi')];
    const [pod] = pods as [Pod];
    const problem: Problem = {
      ...problemOf(pod, testPool('general', {}, { limits: { cpu: '0', memory: '0' } })),
      pods,
    };
    const [fix] = explainPod(questionOf(problem, pod)).fixes;
    expect(fix?.patches.map(({ target }) => target.kind)).toEqual(['Deployment', 'NodePool']);
    expect(unplacedIn(patched(problem, pod, fix?.patches ?? [])).has(podKey(pod))).toBe(false);
  });

  it('raises a limit enough for other waiting pods too, in any order', () => {
    const pods = [testPod('a', '8', '1Gi', { nodeSelector: { team: 'blue' } }), testPod('b', '7', '1Gi')];
    const [pod] = pods as [Pod];
    const problem: Problem = { ...problemOf(pod, testPool('general', {}, { limits: { cpu: '0' } })), pods };
    const [fix] = explainPod(questionOf(problem, pod)).fixes;
    const after = patched(problem, pod, fix?.patches ?? []);
    expect(unplacedIn(after)).toEqual(new Set());
    expect(unplacedIn({ ...after, pods: [...after.pods].reverse() })).toEqual(new Set());
  });

  it('counts for minValues only types for which the limits have room', () => {
    const requirements = [{ key: 'node.kubernetes.io/instance-type', operator: 'Exists' as const, minValues: 2 }];
    const pool = testPool('general', { requirements }, { limits: { cpu: '4' } });
    const pod = testPod('a', '1', '1Gi');
    const { constraint, sentence, fixes } = explained(pod, pool);
    expect([constraint, sentence]).toEqual(['min-values', expect.stringContaining('asks for 2 values and 1 are left')]);
    for (const { patches } of fixes) {
      expect(unplacedIn(patched(problemOf(pod, pool), pod, patches))).toEqual(new Set());
    }
    expect(fixes.length).toBeGreaterThan(0);
  });

  it('lets the pool allow a GPU type before it removes the GPU from the pod', () => {
    const gpu = { 'nvidia.com/gpu': '1' };
    const requirements = [{ key: 'node.kubernetes.io/instance-type', operator: 'In' as const, values: ['small'] }];
    const plain = testType('small', 2, 4, 0.1);
    const large = testType('gpu', 8, 32, 3);
    const capacity = { ...large.capacity, ...parseResources(gpu) };
    const types = [plain, { ...large, capacity, allocatable: capacity }];
    const resources = { requests: { cpu: '1', ...gpu }, limits: gpu };
    const pod = testPod('a', '1', '1Gi', { containers: [{ name: 'main', resources }] });
    const pool = testPool('general', { requirements });
    const problem = { ...problemOf(pod, pool), pools: [{ pool, instanceTypes: types, used: {} }] };
    const { fixes } = explainPod(questionOf(problem, pod));
    expect(fixes.map(({ sentence }) => sentence)).toEqual([
      'let NodePool "general" allow node.kubernetes.io/instance-type In [gpu]',
      'request no nvidia.com/gpu',
    ]);
  });

  it('reports that a pod is being replaced when its Deployment has a new template', () => {
    const pod = testPod('a', '100', '1Gi');
    const question = questionOf(problemOf(pod, testPool('general')), pod);
    const source = { ...question.source, isOutdated: true };
    expect(explainPod({ ...question, source })).toMatchObject({ constraint: 'outdated', fixes: [] });
  });

  it.each([
    [{ nodeName: 'n1' }, {}, 'bound', 'it runs on node n1'],
    [{ schedulingGates: [{ name: 'wait' }] }, {}, 'gated', 'scheduling gates block it: wait'],
    [
      { schedulerName: 'mine' },
      {},
      'other-scheduler',
      'scheduler "mine" is responsible for it, and nodes are bought only for pods of the default scheduler',
    ],
    [{}, { phase: 'Succeeded' }, 'ended', 'it has ended: Succeeded'],
  ])('of a pod with %j and status %j is %s', (spec, status, constraint, sentence) => {
    const pod = { ...testPod('a', '1', '1Gi', spec), status };
    expect(explained(pod)).toMatchObject({ constraint, sentence });
  });

  it('reports what will be bought for a pod that has a place in the next plan', () => {
    const { constraint, sentence } = explained(testPod('a', '1', '1Gi'));
    expect(constraint).toBe('planned');
    expect(sentence).toContain('the next plan buys small');
  });
});
