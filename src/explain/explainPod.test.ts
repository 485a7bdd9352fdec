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
import { explainPod, type PodQuestion } from './explainPod.ts';

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
      solution: ask(new Model(problem), overlay, OPTIONS),
      ask: (again, options, offers) => ask(new Model({ ...problem, pools: offers }), again, options),
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

/** The problem after `kubectl patch` of everything that the fix names. */
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

const unplacedIn = (problem: Problem): Set<string> =>
  new Set(ask(new Model(problem), { pods: problem.pods }, OPTIONS).unplaced.map(({ pod }) => pod));

describe('an unplaced pod', () => {
  it('has a constraint, and every fix that is told gives it a place', { timeout: 120_000 }, () => {
    const samples = fc.sample(anyProblem, { numRuns: 60, seed: 99 });
    let explained = 0;
    let fixed = 0;
    const wrong: unknown[] = [];
    samples.forEach((problem, at) => {
      const unplaced = unplacedIn(problem);
      const pod = problem.pods.find((each) => unplaced.has(podKey(each)));
      if (pod === undefined) return;
      const { sentence, constraint, fixes } = explainPod(questionOf(problem, pod));
      // What keeps a group from its places is the constraint of another member.
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

  it('names the selector that nothing meets, and both sides that may change', () => {
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

  it('makes several changes together where one is not enough', () => {
    const { fixes } = explained(testPod('a', '100', '1Gi', { nodeSelector: { team: 'blue' } }));
    expect(fixes.map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/^drop team=blue from nodeSelector, and ask for .* cpu less, to fit on large$/),
    ]);
  });

  it('tells of a group what one of its pods lacks, and what would give all of them a place', () => {
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

  it('tells to make a pod without an owner again when only its own spec could help', () => {
    const pod = testPod('a', '100', '1Gi');
    const question = questionOf(problemOf(pod, testPool('general')), pod);
    const source = { ...question.source, templatePath: [] };
    const [fix, ...more] = explainPod({ ...question, source }).fixes;
    expect(more).toEqual([]);
    expect(fix).toMatchObject({ patches: [] });
    expect(fix?.sentence).toMatch(/^delete the pod and make it again: ask for /);
  });

  it.each([
    [{ nodeName: 'n1' }, {}, 'bound', 'it runs on node n1'],
    [{ schedulingGates: [{ name: 'wait' }] }, {}, 'gated', 'scheduling gates hold it: wait'],
    [
      { schedulerName: 'mine' },
      {},
      'other-scheduler',
      'scheduler "mine" is to place it, and nodes are bought only for pods of the default scheduler',
    ],
    [{}, { phase: 'Succeeded' }, 'ended', 'it has ended: Succeeded'],
  ])('of a pod with %j and status %j is %s', (spec, status, constraint, sentence) => {
    const pod = { ...testPod('a', '1', '1Gi', spec), status };
    expect(explained(pod)).toMatchObject({ constraint, sentence });
  });

  it('says what will be bought for a pod that the next plan has a place for', () => {
    const { constraint, sentence } = explained(testPod('a', '1', '1Gi'));
    expect(constraint).toBe('planned');
    expect(sentence).toContain('the next plan buys small');
  });
});
