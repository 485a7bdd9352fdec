/** Finds known problems of NodePools, PodDisruptionBudgets and workloads in a rehearsal, each with its fix. */
import { NodeClaimConditions } from '../api/conditionTypes.ts';
import { findCondition } from '../api/conditions.ts';
import { Kinds, type Pod, type PodDisruptionBudget } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { apiVersionOf } from '../api/object.ts';
import { Requirements } from '../constraints/requirements.ts';
import { REASONS } from '../disruption/budgets.ts';
import type { Kube } from '../kube/kube.ts';
import type { ObjectName } from '../ledger/explanation.ts';
import type { Finding, Severity, Trap } from '../ledger/finding.ts';
import { matchesLabelSelector } from '../pods/labelSelector.ts';
import { podKey } from '../pods/podKey.ts';
import { podRequests } from '../pods/podRequests.ts';
import { isActive, isDaemonPod, isReschedulable } from '../pods/podPredicates.ts';
import { untoleratedTaints } from '../pods/taints.ts';
import { Quantity } from '../units/quantity.ts';
import { quantityOf } from '../units/resources.ts';
import { poolRefusal } from './explainPoolIn.ts';
import { adviceOf, findingOf, fixOf } from './findingOf.ts';
import { heldFindings } from './heldFindings.ts';
import { fatesOf } from './judge.ts';
import type { Provider } from './neededRights.ts';
import { quotaFindings, type QuotaAnswer } from './quotaFindings.ts';
import type { Rehearsal, RehearsalOptions } from './rehearse.ts';
import { rightsFindings, type Account } from './rightsFindings.ts';
import { spreadFindings } from './spreadFindings.ts';
import { stuckFindings } from './stuckFindings.ts';
import { unreadyPool } from './unreadyPool.ts';

type Options = Omit<RehearsalOptions, 'objects' | 'changedPools'>;

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];
/** Percentage of a limit from which a finding is reported. */
const NEAR = 90;
/** Limit on findings of one kind about workloads. */
const MOST = 20;

/** State that loops do not read. */
export interface Surroundings {
  /** The account whose rights are checked; absent: rights are not checked. */
  readonly account?: Account | undefined;
  readonly quota?: QuotaAnswer | undefined;
}

/** Worst first. */
export async function checkup(
  rehearsal: Rehearsal,
  options: Options,
  kube: Kube,
  { account, quota }: Surroundings = {},
): Promise<readonly Finding[]> {
  const pools = [...rehearsal.world.informers.nodePools.store.list()];
  const fates = fatesOf(rehearsal);
  const found = [
    ...pools.flatMap((pool) => poolFindings(rehearsal, pool)),
    ...overlaps(pools),
    ...podBudgetFindings(rehearsal),
    ...workloadFindings(rehearsal),
    ...(await stuckFindings(rehearsal, kube)),
    ...(await heldFindings(rehearsal, fates, options, kube)),
    ...(await spreadFindings(rehearsal, kube)),
    ...(account === undefined ? [] : await rightsFindings(kube, account, providersOf(pools))),
    ...(quota === undefined ? [] : quotaFindings(quota)),
  ];
  return found.sort(
    (left, right) =>
      ORDER.indexOf(left.severity) - ORDER.indexOf(right.severity) ||
      (left.check < right.check ? -1 : left.check > right.check ? 1 : left.object.name < right.object.name ? -1 : 1),
  );
}

/** By the node classes of the pools. */
function providersOf(pools: readonly NodePool[]): readonly Provider[] {
  const groups = new Set(pools.map(({ spec }) => spec.template.spec.nodeClassRef.group));
  const all: readonly [Provider, string][] = [
    ['azure', Kinds.AKSNodeClass.group],
    ['kwok', Kinds.KWOKNodeClass.group],
  ];
  return all.flatMap(([provider, group]) => (groups.has(group) ? [provider] : []));
}

function poolName({ metadata }: NodePool): ObjectName {
  return { apiVersion: apiVersionOf(Kinds.NodePool), kind: Kinds.NodePool.kind, name: metadata.name };
}

function poolFindings(rehearsal: Rehearsal, pool: NodePool): readonly Finding[] {
  const object = poolName(pool);
  const unready = unreadyPool(rehearsal.objects, pool, object);
  if (unready !== undefined) return [unready];
  const refused = poolRefusal(rehearsal, pool);
  const ofRefusal =
    refused === undefined
      ? nearLimits(rehearsal, pool)
      : refused.constraint === 'limits'
        ? [findingOf('error', object, { check: 'limit-reached', sentence: refused.sentence }, refused.fixes)]
        : [
            findingOf(
              'error',
              object,
              { check: 'pool-refuses-all', stage: refused.constraint, sentence: refused.sentence },
              refused.fixes,
            ),
          ];
  return [...ofRefusal, ...budgetFindings(rehearsal, pool), ...imageFindings(rehearsal, pool)];
}

function nearLimits({ moment }: Rehearsal, pool: NodePool): readonly Finding[] {
  const offer = moment.offers.find((each) => each.pool.metadata.name === pool.metadata.name);
  return Object.entries(pool.spec.limits ?? {}).flatMap(([resource, limit]) => {
    const most = Quantity.parse(String(limit)).milliValue();
    const percent = most <= 0 ? 100 : Math.floor((quantityOf(offer?.used ?? {}, resource).milliValue() * 100) / most);
    if (percent < NEAR) return [];
    const to = String(Quantity.parse(String(limit)).value() * 2);
    const raise = fixOf({ kind: 'double-limit', resource }, poolName(pool), { spec: { limits: { [resource]: to } } });
    return [findingOf('warning', poolName(pool), { check: 'limit-near', resource, percent }, [raise])];
  });
}

function budgetFindings({ pass }: Rehearsal, pool: NodePool): readonly Finding[] {
  const object = poolName(pool);
  const budget = pass.budgets.of(pool.metadata.name);
  const { budgets, consolidateAfter } = pool.spec.disruption;
  const found: Finding[] = (budget?.complaints ?? []).map(({ index, field, value }) =>
    findingOf('error', object, { check: 'budget-unreadable', index, field, value }, [
      fixOf({ kind: 'remove-budget', index }, object, {
        spec: { disruption: { budgets: budgets.filter((_, at) => at !== index) } },
      }),
    ]),
  );
  // Check the budget itself, not its current value: a percentage of zero nodes is zero.
  const closed = budgets.filter(({ nodes, schedule }) => /^0+%?$/.test(nodes) && schedule === undefined);
  const blocked = REASONS.filter((reason) =>
    closed.some(({ reasons }) => reasons === undefined || reasons.includes(reason)),
  );
  if (blocked.length > 0) {
    const open = budgets.map((each) => (closed.includes(each) ? { ...each, nodes: '10%' } : each));
    found.push(
      findingOf('warning', object, { check: 'budget-blocks', reasons: blocked }, [
        fixOf({ kind: 'open-budgets', percent: 10 }, object, { spec: { disruption: { budgets: open } } }),
      ]),
    );
  }
  const [only, ...others] = budgets;
  if (only?.nodes === '10%' && others.length === 0 && only.schedule === undefined && only.reasons === undefined) {
    const wider = [
      { nodes: '100%', reasons: ['Empty'] },
      { nodes: '10%', reasons: ['Drifted', 'Underutilized'] },
    ];
    found.push(
      findingOf('info', object, { check: 'default-budget', nodes: budget?.nodes ?? 0 }, [
        fixOf({ kind: 'free-empty-nodes' }, object, { spec: { disruption: { budgets: wider } } }),
      ]),
    );
  }
  if (consolidateAfter === 'Never' && pool.spec.replicas === undefined) {
    found.push(
      findingOf('info', object, { check: 'consolidation-never' }, [
        fixOf({ kind: 'consolidate' }, object, {
          spec: { disruption: { consolidateAfter: '5m' } },
        }),
      ]),
    );
  }
  return found;
}

/** Nodes waiting to be replaced for a new image, in a pool whose budgets allow no time for that. */
function imageFindings({ pass }: Rehearsal, pool: NodePool): readonly Finding[] {
  const { budgets } = pool.spec.disruption;
  const hasHours = budgets.some(
    ({ schedule, reasons }) => schedule !== undefined && (reasons === undefined || reasons.includes('Drifted')),
  );
  const own = pass.views.filter(({ nodePool, claim }) => claim !== undefined && nodePool === pool.metadata.name);
  const old = own.filter(
    ({ claim }) => claim !== undefined && findCondition(claim, NodeClaimConditions.drifted)?.reason === 'ImageDrift',
  );
  if (hasHours || old.length === 0) return [];
  const nights = [...budgets, { nodes: '0', reasons: ['Drifted'], schedule: '0 6 * * *', duration: '16h' }];
  return [
    findingOf('info', poolName(pool), { check: 'image-drifts', nodes: old.length, of: own.length }, [
      fixOf({ kind: 'replace-at-night' }, poolName(pool), {
        spec: { disruption: { budgets: nights } },
      }),
    ]),
  ];
}

/** Pools that accept the same pods at equal weight. */
function overlaps(pools: readonly NodePool[]): readonly Finding[] {
  const dynamic = pools.filter(({ spec }) => spec.replicas === undefined);
  return dynamic.flatMap((pool, at) =>
    dynamic.slice(at + 1).flatMap((other) => {
      const weight = pool.spec.weight ?? 0;
      if ((other.spec.weight ?? 0) !== weight || !takesSame(pool, other)) return [];
      const first = fixOf({ kind: 'prefer-pool', pool: pool.metadata.name }, poolName(pool), {
        spec: { weight: weight + 10 },
      });
      return [
        findingOf('warning', poolName(pool), { check: 'overlapping-pools', other: other.metadata.name, weight }, [
          first,
        ]),
      ];
    }),
  );
}

function takesSame(one: NodePool, other: NodePool): boolean {
  const taints = ({ spec }: NodePool) => spec.template.spec.taints ?? [];
  const open = (pool: NodePool): boolean => untoleratedTaints(taints(pool), []).length === 0;
  if (!open(one) || !open(other)) return false;
  const needs = ({ spec }: NodePool): Requirements =>
    Requirements.fromItems(spec.template.spec.requirements).add(
      ...Requirements.fromLabels(spec.template.metadata?.labels ?? {}),
    );
  return needs(one).intersects(needs(other));
}

function podBudgetFindings({ world, pass }: Rehearsal): readonly Finding[] {
  const budgets = [...world.informers.disruptionBudgets.store.list()];
  const pods = pass.views.flatMap((view) => view.pods.filter(isActive));
  const found: Finding[] = [];
  for (const budget of budgets) {
    const { expectedPods = 0, currentHealthy = 0, disruptionsAllowed = 0 } = budget.status ?? {};
    if (expectedPods === 0 || disruptionsAllowed > 0 || currentHealthy < expectedPods) continue;
    const loosen = fixOf({ kind: 'allow-one-unavailable' }, budgetName(budget), {
      spec: { maxUnavailable: 1, ...(budget.spec?.minAvailable !== undefined && { minAvailable: null }) },
    });
    found.push(
      findingOf('error', budgetName(budget), { check: 'budget-allows-nothing', pods: expectedPods }, [loosen]),
    );
  }
  const told = new Set<string>();
  for (const pod of pods) {
    const [first, second] = budgets.filter(
      ({ metadata, spec }) =>
        metadata.namespace === pod.metadata.namespace && matchesLabelSelector(spec?.selector, pod.metadata.labels),
    );
    if (first === undefined || second === undefined || told.has(keyOf(second)) || told.size >= MOST) continue;
    told.add(keyOf(second));
    const trap: Trap = { check: 'budgets-overlap', other: keyOf(first), pod: podKey(pod) };
    const loosen = fixOf({ kind: 'select-nothing' }, budgetName(second), { spec: { selector: null } });
    found.push(findingOf('error', budgetName(second), trap, [loosen]));
  }
  return found;
}

const keyOf = ({ metadata }: PodDisruptionBudget): string => `${metadata.namespace ?? ''}/${metadata.name}`;

function budgetName({ metadata }: PodDisruptionBudget): ObjectName {
  const { kind } = Kinds.PodDisruptionBudget;
  return {
    apiVersion: apiVersionOf(Kinds.PodDisruptionBudget),
    kind,
    namespace: metadata.namespace ?? 'default',
    name: metadata.name,
  };
}

/** Pods without requests, by owner. */
function workloadFindings({ pass }: Rehearsal): readonly Finding[] {
  const byOwner = new Map<string, { readonly pods: Pod[]; readonly missing: readonly string[] }>();
  for (const view of pass.views.filter(({ claim }) => claim !== undefined)) {
    for (const pod of view.pods.filter((each) => isReschedulable(each) && !isDaemonPod(each))) {
      const requests = podRequests(pod);
      const missing = ['cpu', 'memory'].filter((resource) => quantityOf(requests, resource).isZero());
      if (missing.length === 0) continue;
      const owner = (pod.metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
      const key = `${pod.metadata.namespace}/${owner?.uid ?? pod.metadata.name}`;
      const known = byOwner.get(key);
      if (known === undefined) byOwner.set(key, { pods: [pod], missing });
      else known.pods.push(pod);
    }
  }
  return [...byOwner.values()].slice(0, MOST).flatMap(({ pods, missing }) => {
    const [pod] = pods;
    if (pod === undefined) return [];
    const owner = (pod.metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
    const object: ObjectName = {
      apiVersion: owner?.apiVersion ?? 'v1',
      kind: owner?.kind ?? 'Pod',
      namespace: pod.metadata.namespace ?? 'default',
      name: owner?.name ?? pod.metadata.name,
    };
    const trap: Trap = { check: 'no-requests', pods: pods.length, resources: missing };
    return [findingOf('warning', object, trap, [adviceOf({ kind: 'ask-for', resources: missing })])];
  });
}
