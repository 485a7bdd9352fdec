/** What instance types use of quotas, and what quotas leave. */
import type { InstanceType, QuotaFigure, QuotaNeed } from '../cloud/instanceType.ts';

export function leftOf({ limit, used }: QuotaFigure): number {
  return Math.max(0, limit - used);
}

/** What an instance of the type uses of the quota, whatever its capacity type. */
export function useOf({ offerings }: InstanceType, quota: string): number {
  return offerings.reduce((most, { quotaNeed }) => Math.max(most, takenOf(quotaNeed, quota)), 0);
}

export function takenOf(need: QuotaNeed | undefined, quota: string): number {
  return need?.names.includes(quota) === true ? need.amount : 0;
}
