import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import { podKind } from '../pods/podKind.ts';
import { Placements, plannedPods } from './placements.ts';

function pod(name: string, workload: string | undefined, cpu = '1', extra: Partial<Pod['spec']> = {}): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: workload ?? '', controller: true };
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...(workload && { ownerReferences: [owner] }) },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }], ...extra },
  };
}

const UNTIL = { until: 1_000 };
const LEAVING = { until: 1_000, leaving: true };
const targetOf = (places: Placements, of: Pod): string | undefined => places.placeOf(of.metadata.uid ?? '')?.target;

/** Places by target and kind. */
function counts(places: Placements): Record<string, number> {
  const found: Record<string, number> = {};
  for (const target of places.targets()) {
    for (const { pod: holder } of places.at(target)) {
      const key = `${target} ${podKind(holder).kind}`;
      found[key] = (found[key] ?? 0) + 1;
    }
  }
  return found;
}

describe('a kind of pod', () => {
  it('is the same for pods of one controller that are scheduled alike, and for no others', () => {
    const kind = (of: Pod): string => podKind(of).kind;
    expect(kind(pod('a', 'web'))).toBe(kind(pod('b', 'web')));
    expect(kind(pod('a', 'web'))).not.toBe(kind(pod('b', 'api')));
    expect(kind(pod('a', 'web'))).not.toBe(kind(pod('b', 'web', '2')));
    expect(kind(pod('a', 'web'))).not.toBe(kind(pod('b', 'web', '1', { nodeSelector: { zone: 'a' } })));
    expect(kind(pod('a', undefined))).not.toBe(kind(pod('b', undefined)));
    // Its disk makes a replica a kind of its own.
    const disk = (claimName: string) => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] });
    expect(kind(pod('a-0', 'a', '1', disk('d-0')))).not.toBe(kind(pod('a-1', 'a', '1', disk('d-1'))));
  });
});

describe('a place', () => {
  it('passes from an evicted pod to the next of its kind, and to no other', () => {
    const places = new Placements();
    const old = pod('web-1', 'web');
    places.hold('plan', 'n', old, LEAVING);
    places.appear(pod('web-2', 'web'));
    expect(targetOf(places, pod('web-2', 'web'))).toBeUndefined();
    places.depart(old);
    places.appear(pod('web-3', 'web', '2'));
    expect(targetOf(places, pod('web-3', 'web', '2'))).toBeUndefined();
    // Until it is taken it still counts for the leaving pod.
    expect(targetOf(places, old)).toBe('n');
    places.appear(pod('web-4', 'web'));
    places.remove(old);
    expect([targetOf(places, old), targetOf(places, pod('web-4', 'web'))]).toEqual([undefined, 'n']);
    // The first place was planned for a moved pod, the second was not.
    places.hold('plan', 'n', pod('web-5', 'web'), UNTIL);
    expect(['uid-web-4', 'uid-web-5'].map((uid) => places.placeOf(uid)?.moved)).toEqual([true, false]);
  });

  it('ends with a pod that waited, and with a pod that is not replaced', () => {
    const places = new Placements();
    places.hold('plan', 'n', pod('waits', 'web'), UNTIL);
    places.hold('plan', 'n', pod('bare', undefined), LEAVING);
    places.remove(pod('waits', 'web'));
    places.remove(pod('bare', undefined));
    expect(places.size).toBe(0);
  });

  it('is lost to a pod of the same kind from outside the plan', () => {
    const lost: string[] = [];
    const places = new Placements(({ metadata }) => lost.push(metadata.name));
    places.hold('plan', 'n', pod('a', 'web'), UNTIL);
    places.bind(pod('stranger', 'web'), 'n');
    expect(places.size).toBe(0);
    expect(lost).toEqual(['a', 'a']);
  });

  it('ends with its plan, its target, or its time', () => {
    const places = new Placements();
    places.hold('one', 'n', pod('a', 'web'), UNTIL);
    places.hold('two', 'n', pod('b', 'web'), { until: 2_000 });
    places.hold('two', 'm', pod('c', 'web'), UNTIL);
    places.endPlan('one');
    expect(counts(places)).toEqual({
      [`n ${podKind(pod('b', 'web')).kind}`]: 1,
      [`m ${podKind(pod('c', 'web')).kind}`]: 1,
    });
    places.expire('n', 1_999);
    places.endTarget('m');
    expect(places.size).toBe(1);
    places.expire('n', 2_000);
    expect([places.size, places.targets()]).toEqual([0, []]);
  });

  it('matters only with several nodes and several kinds of pods', () => {
    const places = new Placements();
    places.hold('plan', 'n', pod('a', 'web'), UNTIL);
    places.hold('plan', 'm', pod('b', 'api'), UNTIL);
    expect(places.isMixed).toBe(false);
    places.hold('plan', 'm', pod('c', 'api', '2'), UNTIL);
    expect(places.isMixed).toBe(true);
    places.bind(pod('a', 'web'), 'n');
    expect(places.isMixed).toBe(false);
  });
});

it('is derived from a solution once its planned nodes have claims', () => {
  const solution = {
    onExisting: [{ node: 'n', pods: ['default/a'] }],
    plannedNodes: [{ pods: ['default/b'] }, { pods: ['default/c'] }],
  } as unknown as Parameters<typeof plannedPods>[0];
  const podOf = (key: string): Pod => pod(key.slice(8), 'web');
  expect(
    plannedPods(solution, podOf, ['claim-1', undefined]).map(({ target, pods }) => [target, pods[0]?.metadata.name]),
  ).toEqual([
    ['n', 'a'],
    ['claim-1', 'b'],
  ]);
});

const TARGETS = ['t0', 't1', 't2'];
const planned = fc.array(
  fc.record({
    workload: fc.constantFrom('web', 'api'),
    target: fc.constantFrom(...TARGETS),
    leaving: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
);

describe('in any order of the scheduler', () => {
  it('every waiting pod has one place, and each node keeps its remaining places of each kind', () => {
    fc.assert(
      fc.property(planned, fc.infiniteStream(fc.nat()), (plan, choices) => {
        const places = new Placements();
        const left: Record<string, number> = {};
        const waiting: Pod[] = [];
        const bound: Pod[] = [];
        const pick = <T>(from: readonly T[]): T => from[choices.next().value! % from.length]!;
        plan.forEach(({ workload, target, leaving }, at) => {
          const own = pod(`p${at}`, workload);
          places.hold('plan', target, own, { until: 1, leaving });
          const key = `${target} ${podKind(own).kind}`;
          left[key] = (left[key] ?? 0) + 1;
          if (!leaving) waiting.push(own);
        });
        // Evicted pods are replaced while others are bound, in any order.
        const evicted = plan.flatMap(({ workload, leaving }, at) => (leaving ? [pod(`p${at}`, workload)] : []));
        while (waiting.length > 0 || evicted.length > 0) {
          if (evicted.length > 0 && (waiting.length === 0 || choices.next().value! % 2 === 0)) {
            const old = evicted.splice(evicted.indexOf(pick(evicted)), 1)[0]!;
            places.depart(old);
            const next = pod(`${old.metadata.name}-next`, old.metadata.ownerReferences?.[0]?.uid);
            places.appear(next);
            waiting.push(next);
            if (choices.next().value! % 2 === 0) places.remove(old);
          } else {
            const own = waiting.splice(waiting.indexOf(pick(waiting)), 1)[0]!;
            const { kind } = podKind(own);
            const [target] = pick(Object.keys(left).filter((key) => key.endsWith(` ${kind}`) && left[key]! > 0)).split(
              ' ',
            );
            const key = `${target} ${kind}`;
            left[key] = left[key]! - 1;
            if (left[key] === 0) delete left[key];
            places.bind(own, target!);
            bound.push(own);
          }
          expect(counts(places)).toEqual(left);
          expect(waiting.map((own) => targetOf(places, own))).not.toContain(undefined);
          expect(bound.filter((own) => targetOf(places, own) !== undefined)).toEqual([]);
        }
        expect([places.size, places.hasOpen, places.targets()]).toEqual([0, false, []]);
      }),
    );
  });

  it('unplanned pods, deletions and expiry never leave a pod with two places or a place without a target', () => {
    const step = fc.record({
      what: fc.constantFrom('hold', 'leave', 'appear', 'depart', 'remove', 'bind', 'expire', 'endTarget', 'endPlan'),
      at: fc.nat(5),
      workload: fc.constantFrom('web', 'api', undefined),
      target: fc.constantFrom(...TARGETS),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const places = new Placements();
        for (const { what, at, workload, target } of steps) {
          const own = pod(`${workload ?? 'bare'}-${at}`, workload);
          if (what === 'hold') places.hold(`plan-${at % 2}`, target, own, UNTIL);
          else if (what === 'leave') places.hold(`plan-${at % 2}`, target, own, LEAVING);
          else if (what === 'bind') places.bind(own, target);
          else if (what === 'expire') places.expire(target, at % 2 === 0 ? 0 : 2_000);
          else if (what === 'endTarget') places.endTarget(target);
          else if (what === 'endPlan') places.endPlan(`plan-${at % 2}`);
          else places[what](own);
          const all = places.targets().flatMap((name) => places.at(name));
          expect(all.length).toBe(places.size);
          expect(new Set(all.map(({ pod: holder }) => holder.metadata.uid)).size).toBe(all.length);
          expect(all.some(({ open }) => open)).toBe(places.hasOpen);
          for (const place of all) expect(places.placeOf(place.pod.metadata.uid ?? '')).toBe(place);
        }
      }),
    );
  });
});
