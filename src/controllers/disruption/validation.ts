/** Whether a recent decision is still valid. */
import { Allowance } from '../../disruption/allowance.ts';
import type { Candidate } from '../../disruption/candidate.ts';
import type { Command } from '../../disruption/command.ts';
import { candidatesFor, type Method, type Pass } from '../../disruption/method.ts';

/** Karpenter's names: nodes are no longer candidates, budgets are used up, or pods would go elsewhere. */
type Rejection = 'churn' | 'budget' | 'scheduling';

export interface Verdict {
  /** With current candidates. Commands without replacements may have fewer than before. */
  readonly valid: readonly Command[];
  readonly rejected: readonly { readonly command: Command; readonly reason: Rejection }[];
  /** Number of candidates dropped, alone or with their command. */
  readonly dropped: number;
}

/** Tolerance for cost differences between two plans for the same pods. */
const TOLERANCE = 1.01;
/** Less than a cent a month. */
const SAME_PRICE = 1e-5;

/**
 * `isUnchanged`: the cluster has not changed since the decision, so no new simulation is needed. Yields after each
 * what-if.
 */
export function* validate(
  method: Method,
  commands: readonly Command[],
  pass: Pass,
  isUnchanged: boolean,
): Generator<void, Verdict> {
  const now = new Map(candidatesFor(method, pass).candidates.map((each) => [idOf(each), each]));
  const isEmptiness = method.name === 'emptiness';
  const allowance = new Allowance(pass.budgets, method.reason);
  const open: Checked[] = [];
  const rejected: { command: Command; reason: Rejection }[] = [];
  for (const command of commands) {
    const here = command.candidates.flatMap((candidate) => now.get(idOf(candidate)) ?? []);
    const allowed = isEmptiness ? within(here, allowance) : here;
    const reason = isEmptiness ? whyNone(here, allowed) : whyNotAll(command, here, allowance);
    if (reason !== undefined) {
      rejected.push({ command, reason });
      continue;
    }
    if (!isEmptiness) allowance.take(allowed);
    open.push({ command, now: { ...command, candidates: allowed } });
  }
  const valid = isEmptiness || isUnchanged ? open : yield* fitting(open, [], pass);
  const still = new Set(valid);
  for (const each of open) if (!still.has(each)) rejected.push({ command: each.command, reason: 'scheduling' });
  const count = (all: readonly Command[]): number => all.reduce((sum, { candidates }) => sum + candidates.length, 0);
  const result = valid.map((each) => each.now);
  return { valid: result, rejected, dropped: count(commands) - count(result) };
}

/** A command as decided, and with its current candidates. */
interface Checked {
  readonly command: Command;
  readonly now: Command;
}

function whyNone(here: readonly Candidate[], allowed: readonly Candidate[]): Rejection | undefined {
  if (here.length === 0) return 'churn';
  return allowed.length === 0 ? 'budget' : undefined;
}

function whyNotAll(command: Command, here: readonly Candidate[], allowance: Allowance): Rejection | undefined {
  if (here.length < command.candidates.length) return 'churn';
  return allowance.allows(here) ? undefined : 'budget';
}

/** Those that still fit beside the accepted ones: all at once if possible, otherwise half by half. */
function* fitting(
  commands: readonly Checked[],
  accepted: readonly Checked[],
  pass: Pass,
): Generator<void, readonly Checked[]> {
  if (commands.length === 0) return [];
  const fits = stillFits(
    [...accepted, ...commands].map((each) => each.now),
    pass,
  );
  yield;
  if (fits) return commands;
  if (commands.length === 1) return [];
  const middle = Math.ceil(commands.length / 2);
  const first: readonly Checked[] = yield* fitting(commands.slice(0, middle), accepted, pass);
  const second: readonly Checked[] = yield* fitting(commands.slice(middle), [...accepted, ...first], pass);
  return [...first, ...second];
}

/** As many as budgets allow; subtracts them from the budgets. */
function within(candidates: readonly Candidate[], allowance: Allowance): readonly Candidate[] {
  return candidates.filter((candidate) => {
    if (!allowance.allows([candidate])) return false;
    allowance.take([candidate]);
    return true;
  });
}

/** Whether all pods have a place, with no more new nodes than decided and at no higher cost. */
function stillFits(commands: readonly Command[], pass: Pass): boolean {
  const going = commands.flatMap(({ candidates }) => candidates);
  const coming = commands.flatMap(({ replacements }) => replacements);
  const { unplaced, plannedNodes, pricePerHour } = pass.whatIf({ without: going, allowsUnsettled: false });
  if (unplaced.length > 0 || plannedNodes.length > coming.length) return false;
  const decided = coming.reduce(
    (sum, each) => sum + (each.kind === 'static' ? 0 : (each.plan.alternatives[0]?.pricePerHour ?? 0)),
    0,
  );
  return pricePerHour <= decided * TOLERANCE + SAME_PRICE;
}

const idOf = ({ view }: Candidate): string => view.claim.metadata.uid ?? view.claim.metadata.name;
