import { Labels } from '../../api/labels.ts';
import { PodBudgets } from '../../cluster/disruptionBudgets.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { budgetsOf } from '../../disruption/budgets.ts';
import { findCandidates, type Candidates, type PoolCatalogue } from '../../disruption/candidate.ts';
import type { DisruptionSettings, Pass, WhatIf } from '../../disruption/method.ts';
import { podPrices } from '../../disruption/podPrices.ts';
import { isSettled } from '../../disruption/settled.ts';
import { podKey } from '../../pods/podKey.ts';
import type { PoolOffer, Solution } from '../../solver/problem.ts';
import type { PodDisruptionBudget } from '../../api/kinds.ts';
import type { Moment } from './planner.ts';

export interface DisruptionPassOptions {
  readonly cluster: Pick<Cluster, 'isNominated'>;
  readonly podBudgets: Iterable<PodDisruptionBudget>;
  readonly settings: DisruptionSettings;
  /** A command for this claim's node is in progress. */
  readonly isQueued: (claim: string) => boolean;
  readonly failedUntil: Pass['failedUntil'];
  readonly pausedUntil: Pass['pausedUntil'];
  readonly calmFor: Pass['calmFor'];
}

/** Rounds of improvement for plans that are only compared. */
const SEARCH_ROUNDS = 20;
const NO_POOLS: readonly PoolOffer[] = [];

/** A pass over the cluster at that moment, and the nodes that are not candidates in it. */
export function disruptionPass(
  moment: Moment,
  options: DisruptionPassOptions,
): { readonly pass: Pass; readonly kept: Candidates['kept'] } {
  const { now, snapshot, catalogues } = moment;
  const views = snapshot.nodes;
  const pools = new Map(catalogues.map((each): [string, PoolCatalogue] => [each.pool.metadata.name, each]));
  const { candidates, kept } = findCandidates({
    now,
    views,
    pools,
    podBudgets: new PodBudgets(options.podBudgets),
    isQueued: options.isQueued,
    isNominated: (node) => options.cluster.isNominated(node, now),
  });
  const baseline = moment.ask(
    { pods: moment.demand.waiting },
    { searchRounds: 0, reservedCapacity: 'Fallback', outcomeOnly: true },
  );
  const what = new WhatIfs(moment, views, pools, baseline);
  const pass: Pass = {
    now,
    views,
    candidates,
    pools,
    budgets: budgetsOf(
      catalogues.map(({ pool }) => pool),
      views,
      now,
    ),
    settings: options.settings,
    baseline,
    failedUntil: options.failedUntil,
    pausedUntil: options.pausedUntil,
    podPrices: podPrices(candidates),
    calmFor: options.calmFor,
    whatIf: (question) => what.ask(question),
  };
  return { pass, kept };
}

class WhatIfs {
  private readonly moment: Moment;
  /** Nodes to which candidates' pods must not move: not ready yet, or protected for a while. */
  private readonly unready: ReadonlySet<string>;
  private readonly unsettled: ReadonlySet<string>;
  private readonly baseline: Solution;

  constructor(
    moment: Moment,
    views: readonly NodeView[],
    pools: ReadonlyMap<string, PoolCatalogue>,
    baseline: Solution,
  ) {
    this.moment = moment;
    this.baseline = baseline;
    const unready = views.filter(({ initialized }) => !initialized).map(({ name }) => name);
    const unsettled = views.filter(
      (view) => !isSettled(view, pools.get(view.labels[Labels.nodePool] ?? '')?.pool, moment.now),
    );
    this.unready = new Set(unready);
    this.unsettled = new Set([...unready, ...unsettled.map(({ name }) => name)]);
  }

  ask({ without, allowsUnsettled, avoiding, outcomeOnly = false, existingOnly = false }: WhatIf): Solution {
    const closed = allowsUnsettled ? this.unready : this.unsettled;
    const closedNodes = avoiding === undefined ? closed : new Set([...closed, ...avoiding]);
    const contending = this.contending(closedNodes);
    return this.moment.ask(
      {
        pods: [...without.flatMap(({ movable }) => movable), ...contending],
        withoutNodes: new Set(without.map(({ view }) => view.name)),
        closedNodes,
      },
      {
        searchRounds: outcomeOnly ? 0 : SEARCH_ROUNDS,
        reservedCapacity: 'Fallback',
        outcomeOnly,
        explainChoices: !outcomeOnly,
      },
      existingOnly ? NO_POOLS : undefined,
    );
  }

  /** Waiting pods, which use room on nodes to which candidates' pods may move. */
  private contending(closed: ReadonlySet<string>) {
    const placed = this.baseline.onExisting.filter(({ node }) => !closed.has(node)).flatMap(({ pods }) => pods);
    if (placed.length === 0) return [];
    const keys = new Set(placed);
    return this.moment.demand.waiting.filter((pod) => keys.has(podKey(pod)));
  }
}
