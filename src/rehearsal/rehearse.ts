/**
 * The controller's view of a cluster from plain objects: same cluster state, planner and disruption pass, but no
 * writes. All questions of `explain`, `cost`, `doctor`, `plan` and `replay` are asked here.
 */
import { NodeClaimConditions, Reasons } from '../api/conditionTypes.ts';
import { ConditionSet, NODE_CLAIM_CONDITIONS } from '../api/conditions.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, Labels } from '../api/labels.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { CloudProvider } from '../cloud/cloudProvider.ts';
import { isPendingDisruption } from '../controllers/claims/isPendingDisruption.ts';
import { DriftDetector } from '../controllers/nodeclaim-disruption/drift.ts';
import { disruptionPass } from '../controllers/planning/disruptionPass.ts';
import { Planner, type Moment, type PlannerOptions } from '../controllers/planning/planner.ts';
import { createWorld } from '../controllers/world/createWorld.ts';
import type { World } from '../controllers/world/world.ts';
import type { Candidates } from '../disruption/candidate.ts';
import type { DisruptionSettings, Pass } from '../disruption/method.ts';
import { settledFrom } from '../disruption/settled.ts';
import { silentLog } from '../kube/log.ts';
import { noMetrics } from '../kube/metrics.ts';
import type { ClusterObjects } from './clusterObjects.ts';
import { objectsKube } from './objectsKube.ts';

export interface RehearsalOptions {
  readonly objects: ClusterObjects;
  readonly cloud: CloudProvider;
  readonly planner?: PlannerOptions;
  readonly settings?: DisruptionSettings;
  /** Changed pools: drift and consolidatability of their nodes are evaluated again. */
  readonly changedPools?: ReadonlySet<string>;
  /**
   * How long savings are assumed to last: `unknown`, or at most the time since a node was last bought for pods. Only a
   * running controller may know when demand returns.
   */
  readonly calm?: 'unknown' | 'brief';
}

export interface Rehearsal {
  readonly objects: ClusterObjects;
  readonly world: World;
  readonly moment: Moment;
  readonly pass: Pass;
  /** Nodes that are not candidates of the pass. */
  readonly kept: Candidates['kept'];
}

const SETTINGS: DisruptionSettings = { spotToSpot: false, minValuesPolicy: 'Strict' };

export async function rehearse({
  objects,
  cloud,
  planner = {},
  settings = SETTINGS,
  changedPools,
  calm = 'unknown',
}: RehearsalOptions): Promise<Rehearsal> {
  const clock = new VirtualClock(objects.time);
  const ports = { kube: objectsKube(objects), cloud, clock, random: new SeededRandom(1), log: silentLog };
  const { world, informers } = createWorld({ ...ports, metrics: noMetrics });
  const end = new AbortController();
  const running = informers.run(end.signal);
  try {
    await informers.synced(end.signal);
    if (changedPools !== undefined) await judgeAnew(world, changedPools, end.signal);
    const moment = await new Planner(world, planner).moment(cloud, () => true, end.signal);
    const { pass, kept } = disruptionPass(moment, {
      cluster: world.cluster,
      podBudgets: world.informers.disruptionBudgets.store.list(),
      settings,
      isQueued: (name) => {
        const claim = world.cluster.claim(name);
        return claim !== undefined && isPendingDisruption(claim);
      },
      failedUntil: () => undefined,
      pausedUntil: () => undefined,
      calmFor: (pool) => (calm === 'unknown' ? undefined : sinceBought(world, pool)),
    });
    return { objects, world, moment, pass, kept };
  } finally {
    end.abort();
    await running;
  }
}

/** Milliseconds since the last node of the pool was bought for pods; undefined when none was. */
function sinceBought({ cluster, clock }: World, pool: string): number | undefined {
  const times = [...cluster.claims()]
    .filter(
      ({ metadata: { labels, annotations } }) =>
        labels?.[Labels.nodePool] === pool && annotations?.[Annotations.disruptionCommand] === undefined,
    )
    .map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''))
    .filter(Number.isFinite);
  return times.length === 0 ? undefined : clock.now() - Math.max(...times);
}

const { drifted, consolidatable, launched } = NodeClaimConditions;
/** Drift reasons that come from the pool. */
const OF_POOL: readonly string[] = [
  Reasons.nodePoolDrifted,
  Reasons.requirementsDrifted,
  Reasons.expired,
  Reasons.instanceTypeNotFound,
];

/** Sets the conditions that the controller would set after a change of the claims' pools. */
async function judgeAnew(world: World, pools: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
  const { cluster, informers, clock } = world;
  const detector = new DriftDetector(world);
  for (const claim of cluster.claims()) {
    const name = claim.metadata.labels?.[Labels.nodePool] ?? '';
    const pool = informers.nodePools.store.get({ name });
    if (!pools.has(name) || pool === undefined || claim.metadata.deletionTimestamp !== undefined) continue;
    const conditions = new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now());
    const reason = conditions.isTrue(launched) ? await detector.reasonOf(claim, pool, signal) : undefined;
    if (reason !== undefined) conditions.setTrue(drifted, clock.now(), reason, reason);
    // Drift found by the cloud cannot be checked here, so it stays.
    else if (OF_POOL.includes(conditions.get(drifted)?.reason ?? '')) conditions.clear(drifted);
    const from = settledFrom(claim, pool);
    if (from !== undefined && from <= clock.now()) conditions.setTrue(consolidatable, clock.now());
    else conditions.clear(consolidatable);
    cluster.setClaim(withConditions(claim, conditions));
  }
}

/** Without a resourceVersion, so that the cluster accepts it as new. */
function withConditions(claim: NodeClaim, { conditions }: ConditionSet): NodeClaim {
  const { resourceVersion: _, ...metadata } = claim.metadata;
  return { ...claim, metadata, status: { ...claim.status, conditions } };
}
