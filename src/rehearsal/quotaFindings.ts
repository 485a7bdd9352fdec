/** Quotas of a region that are nearly used up. */
import type { Finding } from '../ledger/finding.ts';
import { adviceOf, findingOf } from './findingOf.ts';

/** One quota of compute, as Azure counts it. */
export interface QuotaUse {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

/** Azure's answer about the quotas of a region, or why there is none. */
export type QuotaAnswer = { readonly region: string } & (
  { readonly uses: readonly QuotaUse[] } | { readonly problem: string }
);

/** Percentage of a quota from which a finding is reported. */
const NEAR = 90;
/** Quotas that count every launch, or every spot launch, not just one family. */
const SHARED: ReadonlySet<string> = new Set(['cores', 'lowPriorityCores', 'virtualMachines']);

/** Only quotas in use: a zero quota for an unused family is no problem. */
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
