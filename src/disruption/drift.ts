import { NodeClaimConditions } from '../api/conditionTypes.ts';
import { findCondition } from '../api/conditions.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations, Labels } from '../api/labels.ts';
import { Allowance } from './allowance.ts';
import { keptNode, type Candidate } from './candidate.ts';
import { commandOf, priceOfAll, type Command } from './command.ts';
import type { Kept, KeptCause, OutcomeCause } from './kept.ts';
import { MOST_PODS, type Decision, type Method, type Pass } from './method.ts';
import { byDrift } from './order.ts';
import { stranding, wouldStrand } from './outcome.ts';
import { partsOf, type Part } from './parts.ts';
import { pinned } from './pinned.ts';
import { poolDriftReason } from './poolDrift.ts';
import { isReschedulable } from '../pods/podPredicates.ts';

/** How often nodes whose pods find no place are removed from the wave before the rest is tried one by one. */
const MOST_ROUNDS = 4;
/** Less than a cent a month. */
const SAME_PRICE = 1e-5;

/**
 * Replaces drifted nodes, as many at once as budgets allow, zone by zone, with their pods packed together. Pods are not
 * placed on other drifted nodes, so that each moves only once.
 */
export const drift: Method = {
  name: 'drift',
  reason: 'Drifted',
  class: 'eventual',
  consolidationType: '',

  consider({ pool, driftedSince }: Candidate): KeptCause | undefined {
    if (pool.spec.replicas !== undefined) return { kind: 'static-pool' };
    return driftedSince === undefined ? { kind: 'not-drifted' } : undefined;
  },

  *decide(candidates: readonly Candidate[], pass: Pass): Generator<void, Decision> {
    const kept: Kept[] = [];
    let wave = firstWave(candidates, pass, kept);
    const commands: Command[] = [];
    const avoiding = wave.length > 0 ? goingToo(pass) : new Set<string>();
    for (let round = 0; wave.length > 0; round++) {
      const parts = yield* noDearer(yield* replacementsOf(wave, avoiding, pass), pass);
      const failed = parts.flatMap((part) => failuresOf(part, pass));
      if (failed.length === 0) {
        commands.push(...parts.map((part) => commandOf('Drifted', '', part)));
        break;
      }
      for (const { candidate, cause } of failed) kept.push(keptNode(candidate.view, cause));
      const left = new Set(failed.map(({ candidate }) => candidate));
      wave = wave.filter((candidate) => !left.has(candidate));
      // A few nodes are easier to place than many.
      if (round >= MOST_ROUNDS) {
        for (const each of wave.slice(1)) kept.push(keptNode(each.view, { kind: 'next-pass' }));
        wave = wave.slice(0, 1);
      }
    }
    return { commands, kept, coverage: { evaluated: candidates.length, of: candidates.length } };
  },
};

/** Nodes that have drifted, also those that have yet to be marked so: marking thousands of them takes a while. */
function goingToo({ views, pools }: Pass): ReadonlySet<string> {
  const going = views.filter(({ claim, node, nodePool = '' }) => {
    if (claim === undefined || node?.metadata.annotations?.[Annotations.doNotDisrupt] === 'true') return false;
    const pool = pools.get(nodePool)?.pool;
    return isDrifted(claim) || (pool !== undefined && poolDriftReason(claim, pool) !== undefined);
  });
  return new Set(going.map(({ name }) => name));
}

/** Candidates that budgets allow now. The zone in progress comes first, then the one with the oldest drift. */
function firstWave(candidates: readonly Candidate[], pass: Pass, kept: Kept[]): readonly Candidate[] {
  const allowance = new Allowance(pass.budgets, 'Drifted');
  const zones = new OpenZones(pass);
  const wave: Candidate[] = [];
  let pods = 0;
  for (const candidate of zoneByZone(byDrift(candidates), pass)) {
    const { name } = candidate.pool.metadata;
    const paused = pass.pausedUntil(name);
    const isFull = wave.length > 0 && pods + candidate.movable.length > MOST_PODS;
    const cause: OutcomeCause | undefined =
      paused !== undefined
        ? { kind: 'recent-launch-failure', until: paused }
        : allowance.left(name) <= 0
          ? allowance.cause(name)
          : isFull
            ? { kind: 'next-pass' }
            : zones.obstacle(candidate);
    if (cause !== undefined) {
      kept.push(keptNode(candidate.view, cause));
      continue;
    }
    allowance.take([candidate]);
    zones.open(candidate);
    pods += candidate.movable.length;
    wave.push(candidate);
  }
  return wave;
}

/**
 * Zones whose nodes are being replaced, by pool. The next zone waits until all pods have moved off these nodes, so that
 * defects of the new nodes show in one zone first. An annotation of the pool may allow several zones at once.
 */
class OpenZones {
  private readonly byPool = new Map<string, Set<string>>();

  constructor({ views }: Pass) {
    for (const { deleting, claim, nodePool = '', labels, pods } of views) {
      if (!deleting || claim === undefined || !isDrifted(claim)) continue;
      // Terminating pods already have successors, except pods of StatefulSets.
      if (!pods.some(isReschedulable)) continue;
      this.of(nodePool).add(labels[Labels.zone] ?? '');
    }
  }

  open({ pool, zone = '', pods }: Candidate): void {
    if (pods.length > 0) this.of(pool.metadata.name).add(zone);
  }

  /** Empty nodes need not wait for a zone. */
  obstacle({ pool, zone = '', pods }: Candidate): OutcomeCause | undefined {
    const open = this.of(pool.metadata.name);
    if (pods.length === 0 || open.has(zone) || open.size < zonesAtOnce(pool)) return undefined;
    return { kind: 'other-zone-first', zone: [...open].sort()[0] ?? '' };
  }

  private of(pool: string): Set<string> {
    let zones = this.byPool.get(pool);
    if (zones === undefined) this.byPool.set(pool, (zones = new Set()));
    return zones;
  }
}

function isDrifted(claim: NodeClaim): boolean {
  return findCondition(claim, NodeClaimConditions.drifted)?.status === 'True';
}

/** One, unless an annotation of the pool allows more. */
function zonesAtOnce({ metadata }: NodePool): number {
  const wanted = Number(metadata.annotations?.[Annotations.driftZonesAtOnce] ?? 1);
  return Number.isInteger(wanted) && wanted > 1 ? wanted : 1;
}

/** Empty nodes first; the others keep their order within a zone. */
function zoneByZone(ordered: readonly Candidate[], { views }: Pass): readonly Candidate[] {
  const underWay = new Set(views.filter(({ deleting }) => deleting).map(({ labels }) => labels[Labels.zone] ?? ''));
  const zones = new Map<string, number>();
  for (const { zone = '', pods } of ordered) if (pods.length > 0 && !zones.has(zone)) zones.set(zone, zones.size);
  const rank = ({ zone = '', pods }: Candidate): number =>
    pods.length === 0 ? -1 : (zones.get(zone) ?? 0) + (underWay.has(zone) ? 0 : zones.size);
  return [...ordered].sort((left, right) => rank(left) - rank(right));
}

/** Plans without the other drifted nodes as destinations; with them for pods that have no other place. */
function* replacementsOf(
  wave: readonly Candidate[],
  avoiding: ReadonlySet<string>,
  pass: Pass,
): Generator<void, readonly Part[]> {
  let solution = pass.whatIf({ without: wave, allowsUnsettled: true, avoiding });
  yield;
  if (solution.unplaced.length > 0) {
    solution = pass.whatIf({ without: wave, allowsUnsettled: true });
    yield;
  }
  return partsOf(wave, solution).map((part) => ({
    ...part,
    plannedNodes: part.plannedNodes.map((plan) => {
      const narrowed = pinned(plan, pass, { below: Number.POSITIVE_INFINITY });
      return 'kind' in narrowed ? plan : narrowed;
    }),
  }));
}

/** If packing nodes together would cost more, replaces each alone, where that costs less. */
function* noDearer(parts: readonly Part[], pass: Pass): Generator<void, readonly Part[]> {
  const everyNode = new Set(pass.views.map(({ name }) => name));
  const chosen: Part[] = [];
  for (const part of parts) {
    const price = part.candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    const isKnown = part.candidates.every(({ pricePerHour }) => pricePerHour > 0);
    if (!isKnown || part.unplaced.length > 0 || priceOfAll(part.plannedNodes) <= price + SAME_PRICE) {
      chosen.push(part);
      continue;
    }
    // On new nodes only: several of them might otherwise count the same free room.
    const alone: Part[] = [];
    for (const candidate of part.candidates) alone.push(...(yield* replacementsOf([candidate], everyNode, pass)));
    const isPlaced = alone.every(({ unplaced, onExisting }) => unplaced.length === 0 && onExisting.length === 0);
    const alonePrice = alone.reduce((sum, { plannedNodes }) => sum + priceOfAll(plannedNodes), 0);
    chosen.push(...(isPlaced && alonePrice < priceOfAll(part.plannedNodes) ? alone : [part]));
  }
  return chosen;
}

/** Nodes that cannot be replaced: their pods have no place, or their replacement failed recently. */
function failuresOf(part: Part, pass: Pass): { candidate: Candidate; cause: OutcomeCause }[] {
  const until = part.plannedNodes.map((plan) => everyFailure(plan, pass)).find((each) => each !== undefined);
  if (part.unplaced.length === 0 && until === undefined) return [];
  const stranded = part.candidates.flatMap((candidate) => {
    const cause = stranding(part, candidate);
    return cause === undefined ? [] : [{ candidate, cause }];
  });
  if (stranded.length > 0) return stranded;
  // The lost room of a waiting pod cannot be attributed to one node; or nothing can be bought.
  const cause: OutcomeCause =
    until === undefined ? wouldStrand(part.unplaced) : { kind: 'recent-launch-failure', until };
  return part.candidates.map((candidate) => ({ candidate, cause }));
}

/** Until when every alternative is excluded because of recent failures. */
function everyFailure(plan: Part['plannedNodes'][number], pass: Pass): number | undefined {
  const times = plan.alternatives.map((each) => pass.failedUntil(plan.pool, each));
  return times.every((time) => time !== undefined) ? Math.min(...times) : undefined;
}
