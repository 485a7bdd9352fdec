/** Commands that were decided a while ago, against the cluster as it is now. */
import { Allowance } from './allowance.ts';
import { poolTotals } from './balanced.ts';
import type { Candidate } from './candidate.ts';
import type { Command } from './command.ts';
import { commandsOf } from './consolidation.ts';
import { deletionOf } from './emptiness.ts';
import type { KeptCause } from './kept.ts';
import { candidatesFor, type Method, type Pass } from './method.ts';
import { outcomeOf } from './moves.ts';

export interface Validation {
  /** What still holds, planned anew: for the nodes of commands that were given, and for no others. */
  readonly commands: readonly Command[];
  readonly rejected: readonly Rejection[];
}

/** @public */
export interface Rejection {
  readonly command: Command;
  /** A node is no candidate any more; budgets are used up; pods have no place, or it does not pay any more. */
  readonly reason: 'churn' | 'budget' | 'scheduling';
  readonly cause?: KeptCause;
}

/** For emptiness and consolidation. Drift is carried out as decided: it does not depend on what pods do. */
export function validate(commands: readonly Command[], method: Method, pass: Pass): Validation {
  const { candidates } = candidatesFor(method, pass);
  const current = new Map(candidates.map((candidate) => [candidate.view.claim.metadata.uid ?? '', candidate]));
  return method.reason === 'Empty' ? stillEmpty(commands, current, pass) : stillPaying(commands, current, pass);
}

type Current = ReadonlyMap<string, Candidate>;

/** The candidates of the command as they are now. */
function presentOf({ candidates }: Command, current: Current): readonly Candidate[] {
  return candidates.flatMap(({ view }) => current.get(view.claim.metadata.uid ?? '') ?? []);
}

/** Nodes that are no longer empty, or over budget, are left out of their command. */
function stillEmpty(commands: readonly Command[], current: Current, pass: Pass): Validation {
  const allowance = new Allowance(pass.budgets, 'Empty');
  const valid: Command[] = [];
  const rejected: Rejection[] = [];
  for (const command of commands) {
    const present = presentOf(command, current);
    const allowed = present.filter((candidate) => {
      if (!allowance.allows([candidate])) return false;
      allowance.take([candidate]);
      return true;
    });
    if (allowed.length > 0) valid.push(deletionOf(allowed, pass));
    else rejected.push({ command, reason: present.length === 0 ? 'churn' : 'budget' });
  }
  return { commands: valid, rejected };
}

/** All commands together are asked about once more; a command holds only whole. */
function stillPaying(commands: readonly Command[], current: Current, pass: Pass): Validation {
  const allowance = new Allowance(pass.budgets, 'Underutilized');
  const rejected: Rejection[] = [];
  const open: { command: Command; present: readonly Candidate[] }[] = [];
  for (const command of commands) {
    const present = presentOf(command, current);
    if (present.length < command.candidates.length) rejected.push({ command, reason: 'churn' });
    else if (!allowance.allows(present)) rejected.push({ command, reason: 'budget' });
    else {
      allowance.take(present);
      open.push({ command, present });
    }
  }
  // What fails takes its nodes out of the question; the others may then do better.
  for (let left = open; left.length > 0;) {
    const { moves, refused } = outcomeOf(
      left.flatMap(({ present }) => present),
      pass,
      poolTotals(pass),
    );
    if (refused.length === 0) return { commands: commandsOf(moves), rejected };
    const causes = new Map(refused.map(({ candidate, cause }) => [candidate, cause]));
    const causeOf = (present: readonly Candidate[]): KeptCause | undefined =>
      present.map((candidate) => causes.get(candidate)).find((cause) => cause !== undefined);
    for (const { command, present } of left) {
      const cause = causeOf(present);
      if (cause !== undefined) rejected.push({ command, reason: 'scheduling', cause });
    }
    left = left.filter(({ present }) => causeOf(present) === undefined);
  }
  return { commands: [], rejected };
}
