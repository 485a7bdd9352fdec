/** Refusals for lack of quota: for each short quota its limit, its usage and what would be needed. */
import type { Requirements } from '../constraints/requirements.ts';
import type { CompiledPool } from './model/compiledPool.ts';
import type { PodPlan } from './planOnce.ts';
import type { Snapshot } from './problem.ts';
import { leftOf } from './quotaUse.ts';
import type { QuotaShortage, StageRefusal } from './reasons.ts';
import { floatAt, itemAt, Rows } from './rows.ts';

/** Most quotas named in a refusal. */
const SHOWN_QUOTAS = 3;
const NO_QUOTAS: NonNullable<Snapshot['quotas']> = new Map();

/** Quota is the only obstacle: suitable offerings exist but quotas leave too little for any; undefined otherwise. */
export function spentQuota(
  { model: { snapshot } }: PodPlan,
  pool: CompiledPool,
  types: readonly number[],
  requirements: Requirements,
): StageRefusal | undefined {
  const figures = snapshot.quotas ?? NO_QUOTAS;
  const needs = types.flatMap((type) =>
    itemAt(pool.types, type)
      .offerings.filter((offering) => offering.requirements.intersects(requirements))
      .flatMap(({ quotaNeed }) => quotaNeed ?? []),
  );
  return shortageRefusal(
    needs.flatMap(({ names, amount }) =>
      names.flatMap((quota) => {
        const figure = figures.get(quota);
        return figure === undefined || amount <= leftOf(figure) ? [] : [{ quota, ...figure, needed: amount }];
      }),
    ),
  );
}

/** The pool's own limits allow some of the types, but the quotas left by the plan do not. */
export function quotaRefusal(
  { model: { snapshot } }: PodPlan,
  pool: CompiledPool,
  types: readonly number[],
  left: Float64Array | undefined,
): StageRefusal | undefined {
  if (left === undefined) return undefined;
  const use = new Rows(pool.limitNames.length, pool.limitUse);
  const isShort = (type: number, at: number): boolean => use.get(type, at) > floatAt(left, at);
  const columns = [...pool.limitNames.keys()];
  const byQuotas = types.filter((type) => !columns.some((at) => at >= pool.quotas && isShort(type, at)));
  return shortageRefusal(
    byQuotas.flatMap((type) =>
      columns.flatMap((at) => {
        const quota = itemAt(pool.limitNames, at);
        const limit = snapshot.quotas?.get(quota)?.limit;
        if (at >= pool.quotas || limit === undefined || !isShort(type, at)) return [];
        return [{ quota, limit, used: limit - floatAt(left, at), needed: use.get(type, at) }];
      }),
    ),
  );
}

/** Each quota once, with the least amount needed of it; the smallest shortage first. */
function shortageRefusal(found: readonly QuotaShortage[]): StageRefusal | undefined {
  const byQuota = new Map<string, QuotaShortage>();
  for (const each of found) {
    const known = byQuota.get(each.quota);
    if (known === undefined || each.needed < known.needed) byQuota.set(each.quota, each);
  }
  const lack = ({ limit, used, needed }: QuotaShortage): number => used + needed - limit;
  const shortages = [...byQuota.values()]
    .sort((one, other) => lack(one) - lack(other) || (one.quota < other.quota ? -1 : 1))
    .slice(0, SHOWN_QUOTAS);
  return shortages.length === 0 ? undefined : { stage: 'quota', shortages };
}
