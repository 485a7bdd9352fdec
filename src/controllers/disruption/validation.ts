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

/** `isUnchanged`: the cluster has not changed since the decision, so no new simulation is needed. */
export function validate(method: Method, commands: readonly Command[], pass: Pass, isUnchanged: boolean): Verdict {
  const now = new Map(candidatesFor(method, pass).candidates.map((each) => [idOf(each), each]));
  const allowance = new Allowance(pass.budgets, method.reason);
  const valid: Command[] = [];
  const rejected: { command: Command; reason: Rejection }[] = [];
  let dropped = 0;
  const going: Candidate[] = [];
  const coming: Command['replacements'][number][] = [];
  for (const command of commands) {
    const here = command.candidates.flatMap((candidate) => now.get(idOf(candidate)) ?? []);
    const allowed = method.name === 'emptiness' ? within(here, allowance) : here;
    const reason = whyNot(command, here, allowed);
    if (reason !== undefined) {
      rejected.push({ command, reason });
      dropped += command.candidates.length;
      continue;
    }
    dropped += command.candidates.length - allowed.length;
    if (method.name !== 'emptiness') allowance.take(allowed);
    going.push(...allowed);
    coming.push(...command.replacements);
    valid.push({ ...command, candidates: allowed });
  }
  return { valid, rejected, dropped };

  function whyNot(command: Command, here: readonly Candidate[], allowed: readonly Candidate[]): Rejection | undefined {
    if (method.name === 'emptiness') {
      if (here.length === 0) return 'churn';
      return allowed.length === 0 ? 'budget' : undefined;
    }
    if (here.length < command.candidates.length) return 'churn';
    if (!allowance.allows(here)) return 'budget';
    const replacements = [...coming, ...command.replacements];
    return isUnchanged || stillFits([...going, ...here], replacements, pass) ? undefined : 'scheduling';
  }
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
function stillFits(going: readonly Candidate[], coming: Command['replacements'], pass: Pass): boolean {
  const { unplaced, plannedNodes, pricePerHour } = pass.whatIf({ without: going, allowsUnsettled: false });
  if (unplaced.length > 0 || plannedNodes.length > coming.length) return false;
  const decided = coming.reduce(
    (sum, each) => sum + (each.kind === 'static' ? 0 : (each.plan.alternatives[0]?.pricePerHour ?? 0)),
    0,
  );
  return pricePerHour <= decided * TOLERANCE + SAME_PRICE;
}

const idOf = ({ view }: Candidate): string => view.claim.metadata.uid ?? view.claim.metadata.name;
