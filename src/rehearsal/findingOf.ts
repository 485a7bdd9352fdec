/** A trap as a finding, and its fix as a merge patch. */
import type { ExplainedFix, ObjectName } from '../ledger/explanation.ts';
import type { Finding, Severity, Trap } from '../ledger/finding.ts';
import { trapText } from '../ledger/findingText.ts';

export function findingOf(
  severity: Severity,
  object: ObjectName,
  trap: Trap,
  fixes: readonly ExplainedFix[] = [],
): Finding {
  return { check: trap.check, severity, object, sentence: trapText(trap), fixes };
}

export const fixOf = (
  sentence: string,
  target: ObjectName,
  patch: Readonly<Record<string, unknown>>,
): ExplainedFix => ({ sentence, patches: [{ target, type: 'merge', patch }] });

/** What has to be done by other means than a patch. */
export const adviceOf = (sentence: string): ExplainedFix => ({ sentence, patches: [] });
