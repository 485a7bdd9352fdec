/** Quotas of a region that are nearly used up. */
import type { Finding } from '../ledger/finding.ts';
import { adviceOf, findingOf } from './findingOf.ts';

/** One quota of compute, as Azure counts it. */
export interface QuotaUse {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

/** What Azure said of the quotas of a region, or why it said nothing. */
export type QuotaAnswer = { readonly region: string } & (
  { readonly uses: readonly QuotaUse[] } | { readonly problem: string }
);

/** Percent of a quota from which it is worth a word. */
const NEAR = 90;
/** What every launch counts against, or every launch of spot instances, and not one family alone. */
const SHARED: ReadonlySet<string> = new Set(['cores', 'lowPriorityCores', 'virtualMachines']);

/** Those that are in use: a quota of nothing for a family that nothing asks for is no trap. */
export function quotaFindings(answer: QuotaAnswer): readonly Finding[] {
  const { region } = answer;
  if ('problem' in answer) {
    const object = { apiVersion: 'Microsoft.Compute', kind: 'Quotas', name: region };
    const advice = adviceOf({ kind: 'sign-in' });
    return [findingOf('info', object, { check: 'quota-unknown', problem: answer.problem }, [advice])];
  }
  return answer.uses
    .filter(({ used, limit }) => used > 0 && used * 100 >= limit * NEAR)
    .map(({ name, used, limit }) => {
      const raise = adviceOf({ kind: 'raise-quota', quota: name, region });
      const widen = adviceOf({ kind: 'widen-families' });
      const object = { apiVersion: 'Microsoft.Compute', kind: 'Quota', name };
      const trap = { check: 'quota-near', quota: name, region, used, limit } as const;
      return findingOf(used >= limit ? 'error' : 'warning', object, trap, SHARED.has(name) ? [raise] : [raise, widen]);
    });
}
