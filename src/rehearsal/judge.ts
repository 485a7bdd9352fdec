/** What the disruption loop would do now: which nodes it removes, and why it keeps each of the others. */
import { tellsMore } from '../controllers/disruption/reporter.ts';
import { surplusOf } from '../controllers/static-deprovisioning/controller.ts';
import type { Candidate } from '../disruption/candidate.ts';
import type { Command } from '../disruption/command.ts';
import type { Kept } from '../disruption/kept.ts';
import { candidatesFor, type Method } from '../disruption/method.ts';
import { METHODS } from '../disruption/methods.ts';
import type { NodeFate } from '../ledger/nodeFateText.ts';
import type { Rehearsal } from './rehearse.ts';

/** Up to this many nodes, the whole pass is run even for a question about one. */
const MOST_FOR_SETS = 300;

type Judged = Pick<Rehearsal, 'pass' | 'kept'>;
type Fates = Map<string, NodeFate>;

/** Of every managed node, by claim name. */
export function fatesOf(judged: Judged): ReadonlyMap<string, NodeFate> {
  const fates = begin(judged);
  for (const method of METHODS) {
    const found = candidatesFor(method, judged.pass);
    note(fates, found.kept);
    if (found.candidates.length > 0) decide(fates, method, found.candidates, judged);
  }
  return fates;
}

/** Of one node; in a large cluster only this node is evaluated. Undefined for a claim unknown to the pass. */
export function fateOf(claim: string, judged: Judged): NodeFate | undefined {
  const fates = begin(judged);
  let ofDrift: NodeFate | undefined;
  for (const method of METHODS) {
    if (fates.get(claim)?.kind === 'goes') break;
    const found = candidatesFor(method, judged.pass);
    note(fates, found.kept);
    const own = found.candidates.find(({ view }) => view.claim.metadata.name === claim);
    if (own === undefined) continue;
    const isLarge = found.candidates.length > MOST_FOR_SETS;
    if (method.name === 'multi-node' && isLarge) continue;
    decide(fates, method, method.name === 'single-node' && isLarge ? [own] : found.candidates, judged);
    // For a drifted node, the obstacle to drift is more important than the obstacle to consolidation.
    if (method.reason === 'Drifted') ofDrift = fates.get(claim);
  }
  const fate = fates.get(claim);
  return fate?.kind === 'kept' ? (ofDrift ?? fate) : fate;
}

/** Nodes that are not candidates, and surplus nodes of static pools. */
function begin({ pass, kept }: Judged): Fates {
  const fates: Fates = new Map();
  for (const { pool } of pass.pools.values()) {
    const { replicas } = pool.spec;
    if (replicas === undefined) continue;
    for (const { claim } of surplusOf(pass.views, pool.metadata.name, replicas, pass.now)) {
      const name = claim?.metadata.name;
      if (name === undefined) continue;
      fates.set(name, { kind: 'goes', reason: 'Surplus', savingsPerHour: priceOf(name, pass), replacements: [] });
    }
  }
  note(fates, kept);
  return fates;
}

function priceOf(claim: string, { candidates }: Judged['pass']): number {
  return candidates.find(({ view }) => view.claim.metadata.name === claim)?.pricePerHour ?? 0;
}

function decide(fates: Fates, method: Method, candidates: readonly Candidate[], { pass }: Judged): void {
  const { commands, kept } = finish(method.decide(candidates, pass));
  note(fates, kept);
  for (const command of commands) {
    for (const { view } of command.candidates) fates.set(view.claim.metadata.name, fateBy(command));
  }
}

function fateBy({ reason, savingsPerHour, replacements }: Command): NodeFate {
  return {
    kind: 'goes',
    reason,
    savingsPerHour,
    replacements: replacements.flatMap((each) => (each.kind === 'planned' ? each.plan.alternatives.slice(0, 1) : [])),
  };
}

/** Earlier decisions are kept; of two causes the more informative one is kept. */
function note(fates: Fates, all: readonly Kept[]): void {
  for (const kept of all) {
    const name = kept.nodeClaim;
    if (name === undefined) continue;
    const known = fates.get(name);
    if (known?.kind === 'goes' || !tellsMore(kept.cause, known?.kept.cause)) continue;
    fates.set(name, { kind: 'kept', kept });
  }
}

/** Runs the steps to the end without yielding the thread. */
export function finish<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
