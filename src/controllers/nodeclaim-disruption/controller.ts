import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { ConditionSet, findCondition, NODE_CLAIM_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import type { Condition, KubeObject } from '../../api/object.ts';
import { InstanceNotFoundError } from '../../cloud/errors.ts';
import { patchConditions } from '../../kube/conditionPatch.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { expiresAt, isForceful } from '../claims/expiry.ts';
import type { World } from '../world/world.ts';
import { settledFrom } from '../../disruption/settled.ts';
import { DriftDetector } from './drift.ts';

const INTERVAL = 5 * 60_000;
const { drifted, consolidatable, launched } = NodeClaimConditions;
/** Conditions written by this loop. */
const JUDGED = [drifted, consolidatable];

/** Sets the conditions Drifted and Consolidatable of each NodeClaim. */
export function nodeClaimDisruptionController(world: World): Controller {
  const { informers, clock, kube, cluster } = world;
  const detector = new DriftDetector(world);
  return reconciler({
    ...world,
    name: 'nodeclaim.disruption',
    concurrency: 10,
    watches: [
      watch(informers.nodeClaims, ({ type, object }) => {
        if (type === 'deleted') detector.forget(object.metadata.uid ?? '');
        return type === 'deleted' ? [] : [object.metadata.name];
      }),
      watch(informers.nodePools, (event) => (isNews(event) ? claimsWhere(({ pool }) => pool === nameOf(event)) : [])),
      ...informers.nodeClasses.map(({ kind, informer }) =>
        watch(informer, (event) =>
          claimsWhere(({ ref }) => ref.group === kind.group && ref.kind === kind.kind && ref.name === nameOf(event)),
        ),
      ),
    ],
    reconcile: async (name, { signal, log }) => {
      const claim = cluster.claim(name);
      const pool = informers.nodePools.store.get({ name: claim?.metadata.labels?.[Labels.nodePool] ?? '' });
      if (!claim || !pool || claim.metadata.deletionTimestamp) return undefined;
      const conditions = new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now());
      const before = { drifted: conditions.isTrue(drifted), consolidatable: conditions.isTrue(consolidatable) };
      const failures: unknown[] = [];
      try {
        await judgeDrift(claim, pool, conditions, signal);
      } catch (error) {
        // Still write the other condition.
        failures.push(error);
      }
      const wait = judgeConsolidation(claim, pool, conditions);
      if (JUDGED.some((type) => isNew(conditions.get(type), findCondition(claim, type)))) {
        const after = { ...claim, status: { ...claim.status, conditions: conditions.conditions } };
        await ignoreNotFound(patchConditions(kube, Kinds.NodeClaim, NODE_CLAIM_CONDITIONS, claim, after));
      }
      if (failures.length > 0) throw failures[0];
      const reason = conditions.get(drifted)?.reason;
      if (!before.drifted && reason) log.debug('marking drifted', { NodeClaim: name, reason });
      if (!before.consolidatable && conditions.isTrue(consolidatable)) {
        log.debug('marking consolidatable', { NodeClaim: name });
      }
      const expiry = isForceful(claim, pool) ? undefined : expiresAt(claim);
      const untilExpiry = expiry === undefined || expiry <= clock.now() ? INTERVAL : expiry - clock.now();
      return { requeueAfter: Math.min(wait ?? INTERVAL, untilExpiry, INTERVAL) };
    },
  });

  async function judgeDrift(
    claim: NodeClaim,
    pool: NodePool,
    conditions: ConditionSet,
    signal: AbortSignal,
  ): Promise<void> {
    if (!conditions.isTrue(launched)) {
      conditions.clear(drifted);
      return;
    }
    try {
      const reason = await detector.reasonOf(claim, pool, signal);
      if (reason === undefined) conditions.clear(drifted);
      else conditions.setTrue(drifted, clock.now(), reason, reason);
    } catch (error) {
      // Garbage collection handles claims without an instance.
      if (!(error instanceof InstanceNotFoundError)) throw error;
    }
  }

  /** Returns the milliseconds until the result changes by itself. */
  function judgeConsolidation(claim: NodeClaim, pool: NodePool, conditions: ConditionSet): number | undefined {
    const from = settledFrom(claim, pool);
    if (from !== undefined && from <= clock.now()) {
      conditions.setTrue(consolidatable, clock.now());
      return undefined;
    }
    conditions.clear(consolidatable);
    return from === undefined ? undefined : from - clock.now();
  }

  function claimsWhere(
    concerns: (about: { readonly pool?: string; readonly ref: ClassReference }) => boolean,
  ): string[] {
    return [...cluster.claims()].flatMap(({ metadata, spec }) => {
      const pool = metadata.labels?.[Labels.nodePool];
      return concerns({ ref: spec.nodeClassRef, ...(pool !== undefined && { pool }) }) ? [metadata.name] : [];
    });
  }
}

const isNew = (now: Condition | undefined, before: Condition | undefined): boolean =>
  now?.status !== before?.status ||
  now?.reason !== before?.reason ||
  now?.observedGeneration !== before?.observedGeneration;

type ClassReference = NodeClaim['spec']['nodeClassRef'];

const nameOf = ({ object }: InformerEvent<KubeObject>): string => object.metadata.name;

/** A pool's status changes with each of its nodes and does not matter here. */
function isNews(event: InformerEvent<NodePool>): boolean {
  if (event.type !== 'updated') return true;
  const [before, after] = [event.old.metadata, event.object.metadata];
  const stamps = [Annotations.nodePoolHash, Annotations.nodePoolHashVersion, Annotations.forcefulExpiration];
  return (
    before.generation !== after.generation ||
    stamps.some((key) => before.annotations?.[key] !== after.annotations?.[key])
  );
}
