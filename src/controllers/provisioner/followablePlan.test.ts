import { describe, expect, it } from 'vitest';
import { testPod, testPool, testType } from '../../../test/fixtures/solver/testObjects.ts';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { podKey } from '../../pods/podKey.ts';
import type { Solution, SolveOptions } from '../../solver/problem.ts';
import { solve } from '../../solver/solve.ts';
import { followablePlan } from './followablePlan.ts';

/** Nodes of four cores cost as much as two of two cores, or `large` times as much. */
function plan(pods: readonly Pod[], large = 1): { readonly chosen: Solution; readonly asked: number } {
  let asked = 0;
  const ask = (all: readonly Pod[], options?: SolveOptions): Solution => {
    asked += 1;
    const instanceTypes = [testType('a2', 2, 8, 0.1), testType('a4', 4, 16, 0.2 * large)];
    const pools = [{ pool: testPool('default'), instanceTypes, used: {} }];
    return solve({ pods: all, pools, nodes: [], daemons: [] }, options);
  };
  const chosen = followablePlan(ask(pods), pods, ask);
  return { chosen, asked };
}

function web(name: string, cpu: string, whenUnsatisfiable: string | undefined, app = 'web'): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: app, uid: app, controller: true };
  const labelSelector = { matchLabels: { app } };
  const topologySpreadConstraints =
    whenUnsatisfiable === undefined ? [] : [{ maxSkew: 5, topologyKey: Labels.zone, whenUnsatisfiable, labelSelector }];
  const pod = testPod(name, cpu, '100Mi');
  return {
    ...pod,
    metadata: { ...pod.metadata, uid: name, labels: { app }, ownerReferences: [owner] },
    spec: { containers: [], ...pod.spec, topologySpreadConstraints },
  };
}

const names = ['w-1', 'w-2', 'w-3', 'w-4'];
const most = ({ plannedNodes }: Solution): number => Math.max(...plannedNodes.map(({ pods }) => pods.length));

describe('a plan for pods that must spread', () => {
  it('puts each on its own node where that costs no more', () => {
    const { chosen } = plan(
      names.map((name) => web(name, '1800m', 'DoNotSchedule')),
      0.999,
    );
    expect([most(chosen), chosen.unplaced]).toEqual([1, []]);
    expect(chosen.pricePerHour).toBeCloseTo(0.16);
  });

  it('takes fewer nodes of two plans at one price', () => {
    const pods = ['web', 'api', 'job', 'log'].flatMap((workload) =>
      names.map((name) => web(`${workload}-${name}`, '900m', 'DoNotSchedule', workload)),
    );
    const { chosen } = plan(pods, 1.001);
    expect(most(chosen)).toBe(4);
    expect(chosen.plannedNodes).toHaveLength(4);
  });

  it('is searched for longer where pods keep others away from their nodes, and taken where it costs no more', () => {
    const alone = (pod: Pod): Pod => {
      const labelSelector = { matchLabels: pod.metadata.labels ?? {} };
      const terms = [{ topologyKey: Labels.hostname, labelSelector }];
      const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
      return { ...pod, spec: { containers: [], ...pod.spec, affinity } };
    };
    const pods = ['web', 'api', 'job', 'log'].flatMap((workload) =>
      names.map((name) => alone(web(`${workload}-${name}`, '900m', undefined, workload))),
    );
    for (const large of [1, 1.001]) {
      const { chosen, asked } = plan(pods, large);
      expect([asked, chosen.plannedNodes.length, chosen.unplaced]).toEqual([2, large === 1 ? 4 : 8, []]);
    }
  });

  it('keeps them together where separate nodes would cost more', () => {
    const { chosen } = plan(names.map((name) => web(name, '900m', 'DoNotSchedule')));
    expect(most(chosen)).toBeGreaterThan(1);
    expect(chosen.pricePerHour).toBeCloseTo(0.08);
  });

  it('is not asked for twice when pods need not spread', () => {
    for (const how of [undefined, 'ScheduleAnyway']) {
      expect(plan(names.map((name) => web(name, '900m', how))).asked).toBe(1);
    }
  });
});

describe('a plan for pods of different priorities', () => {
  const prior = (name: string, cpu: string, priority: number): Pod => {
    const pod = testPod(name, cpu, '100Mi');
    return { ...pod, spec: { containers: [], ...pod.spec, priority } };
  };
  const prioritiesOn = ({ plannedNodes }: Solution, pods: readonly Pod[]): readonly number[] =>
    plannedNodes.map(({ pods: own }) => {
      const there = pods.filter((pod) => own.includes(podKey(pod)));
      return new Set(there.map(({ spec }) => spec?.priority)).size;
    });

  it('puts them on different nodes where that costs no more', () => {
    const pods = names.flatMap((name, at) => [prior(name, '900m', at % 2), prior(`${name}-b`, '900m', at % 2)]);
    const { chosen } = plan(pods);
    expect(new Set(prioritiesOn(chosen, pods))).toEqual(new Set([1]));
    expect(chosen.unplaced).toEqual([]);
  });

  it('keeps them together where separate nodes would cost more', () => {
    const pods = [prior('a', '900m', 1), prior('b', '1800m', 1), prior('c', '900m', 0), prior('d', '1800m', 0)];
    const { chosen } = plan(pods);
    expect(Math.max(...prioritiesOn(chosen, pods))).toBe(2);
  });

  it('is not asked for twice where all are on one node, or have one priority', () => {
    expect(plan([prior('a', '900m', 1), prior('b', '900m', 0)]).asked).toBe(1);
    expect(plan(names.map((name) => prior(name, '1800m', 7))).asked).toBe(1);
  });
});
