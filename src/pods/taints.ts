/**
 * Taints of a node or pool that a pod does not tolerate, and the rules for taints that are temporary while a node
 * starts.
 */
import type { Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { EPHEMERAL_TAINT_PREFIX, KNOWN_EPHEMERAL_TAINTS } from '../api/labels.ts';

/** The identity of a taint; the value is not part of it. */
type TaintIdentity = Pick<Taint, 'key' | 'effect'>;

const MAX_INT64 = 2n ** 63n - 1n;

/** Every taint that no toleration covers. PreferNoSchedule counts as well: preferences are relaxed elsewhere. */
export function untoleratedTaints(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
): Taint[] {
  return (taints ?? []).filter((taint) => !isTolerated(taint, tolerations));
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return (tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator || 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Lt':
    case 'Gt':
      return toleratesNumber(toleration, taint);
    default:
      return false;
  }
}

/** `base` plus those of `more` with a key and effect not in it. */
export function mergeTaints(base: readonly Taint[], more: readonly Taint[]): Taint[] {
  const merged = [...base];
  for (const taint of more) {
    if (!hasTaint(merged, taint)) merged.push(taint);
  }
  return merged;
}

/** `taints` without those whose key and effect are in `removed`. */
export function withoutTaints(taints: readonly Taint[], removed: readonly TaintIdentity[]): Taint[] {
  return taints.filter((taint) => !hasTaint(removed, taint));
}

/** By key and effect. */
export function hasTaint(taints: readonly TaintIdentity[], wanted: TaintIdentity): boolean {
  return taints.some((taint) => taint.key === wanted.key && taint.effect === wanted.effect);
}

/** Whether the taint is removed automatically while a node joins. */
export function isEphemeralTaint(taint: TaintIdentity): boolean {
  return taint.key.startsWith(EPHEMERAL_TAINT_PREFIX) || hasTaint(KNOWN_EPHEMERAL_TAINTS, taint);
}

/**
 * The taints that pods must tolerate. Until a managed node is initialized, ephemeral and startup taints are ignored;
 * afterwards every taint counts.
 */
export function schedulingTaints(
  taints: readonly Taint[],
  node: { readonly initialized: boolean; readonly startupTaints: readonly Taint[] },
): Taint[] {
  if (node.initialized) return [...taints];
  return withoutTaints(taints, node.startupTaints).filter((taint) => !isEphemeralTaint(taint));
}

/** "key=value:Effect", as kubectl writes it. */
export function formatTaint(taint: Taint): string {
  return taint.value ? `${taint.key}=${taint.value}:${taint.effect}` : `${taint.key}:${taint.effect}`;
}

function toleratesNumber(toleration: Toleration, taint: Taint): boolean {
  const bound = parseDecimal(toleration.value);
  const value = parseDecimal(taint.value);
  if (bound === undefined || value === undefined) return false;
  return toleration.operator === 'Lt' ? value < bound : value > bound;
}

/** Only the plain form of an int64: no sign except minus, no leading zeros. */
function parseDecimal(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}
