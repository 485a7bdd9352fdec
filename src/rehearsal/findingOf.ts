/** A problem as a finding, with its fix as a merge patch. */
import type { ExplainedFix, ObjectName } from '../ledger/explanation.ts';
import type { Finding, Severity, Trap } from '../ledger/finding.ts';
import { trapText } from '../ledger/findingText.ts';
import type { Remedy } from '../ledger/remedy.ts';
import { remedyText } from '../ledger/remedyText.ts';

export function findingOf(
  severity: Severity,
  object: ObjectName,
  trap: Trap,
  fixes: readonly ExplainedFix[] = [],
): Finding {
  return { check: trap.check, severity, object, sentence: trapText(trap), fixes };
}

export const fixOf = (remedy: Remedy, target: ObjectName, patch: Readonly<Record<string, unknown>>): ExplainedFix => ({
  sentence: remedyText(remedy),
  patches: [{ target, type: 'merge', patch }],
});

/** A fix that no patch can make. */
export const adviceOf = (remedy: Remedy): ExplainedFix => ({ sentence: remedyText(remedy), patches: [] });
