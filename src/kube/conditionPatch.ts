/**
 * Writes a status whose conditions are shared by several loops, and returns the server's current object. After a
 * concurrent write the difference is applied again if that write changed other fields; otherwise the result is a
 * Conflict, because the decision may be outdated.
 */
import { ConditionSet, type ConditionTypes } from '../api/conditions.ts';
import type { Condition, KubeObject, ResourceKind } from '../api/object.ts';
import { isConflict, KubeError } from './errors.ts';
import type { Kube } from './kube.ts';
import { mergePatch } from './mergePatch.ts';
import { patchStatus } from './statusPatch.ts';

type StoredCondition = Omit<Condition, 'status'> & { readonly status: string };
type Status = { readonly conditions?: readonly StoredCondition[] };
type WithStatus = KubeObject & { status?: Status };

const ATTEMPTS = 4;

/** `stored`: the latest known version of the object, if it is not `before`. */
export async function patchConditions<T extends WithStatus>(
  kube: Kube,
  kind: ResourceKind<T>,
  types: ConditionTypes,
  before: T,
  after: T,
  stored: T = before,
): Promise<T> {
  let latest = stored;
  for (let attempt = 1; ; attempt++) {
    const wanted = latest === before ? after : rebase(types, before, after, latest);
    if (wanted === undefined) throw conflict(kind, before);
    try {
      return await patchStatus(kube, kind, latest, wanted, { lock: true });
    } catch (error) {
      if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
      const { name, namespace } = before.metadata;
      latest = await kube.get(kind, { name, namespace });
    }
  }
}

function conflict(kind: ResourceKind<KubeObject>, { metadata }: KubeObject): KubeError {
  const message = `${kind.kind} ${metadata.name}: status changed concurrently; re-read and retry`;
  return new KubeError({ code: 409, reason: 'Conflict', message });
}

/** The difference of `after` from `before`, applied to `fresh`; undefined when `fresh` contradicts `before`. */
function rebase<T extends WithStatus>(types: ConditionTypes, before: T, after: T, fresh: T): T | undefined {
  if (isAnother(before, fresh)) return undefined;
  const { conditions: _before, ...oldFields } = before.status ?? {};
  const { conditions: _after, ...newFields } = after.status ?? {};
  const changed = Object.keys(mergePatch(oldFields, newFields) ?? {});
  const pick = (status: Status | undefined): Record<string, unknown> =>
    Object.fromEntries(changed.map((key) => [key, (status as Record<string, unknown> | undefined)?.[key]]));
  if (mergePatch(pick(before.status), pick(fresh.status)) !== undefined) return undefined;
  // A missing condition and one that was never set count as the same.
  const setOf = (object: T): ConditionSet => new ConditionSet(types, object, 0);
  const [was, wanted, conditions] = [setOf(before), setOf(after), setOf(fresh)];
  for (const type of new Set([...was.conditions, ...wanted.conditions].map((condition) => condition.type))) {
    const now = wanted.get(type);
    if (type === types.root || saying(was.get(type)) === saying(now)) continue;
    if (saying(was.get(type)) !== saying(conditions.get(type))) return undefined;
    if (now === undefined) conditions.clear(type);
    else say(conditions, now);
  }
  return { ...fresh, status: { ...fresh.status, ...pick(after.status), conditions: conditions.conditions } };
}

/** A different object or spec from the one on which the decision was based. */
function isAnother({ metadata: before }: KubeObject, { metadata: fresh }: KubeObject): boolean {
  return (
    before.uid !== fresh.uid ||
    before.generation !== fresh.generation ||
    before.deletionTimestamp !== fresh.deletionTimestamp
  );
}

const saying = (condition: Condition | undefined): string | undefined =>
  condition &&
  JSON.stringify([
    condition.status,
    condition.reason ?? '',
    condition.message ?? '',
    condition.lastTransitionTime,
    condition.observedGeneration ?? 0,
  ]);

function say(conditions: ConditionSet, condition: Condition): void {
  const { type, status, reason = '', message = '', lastTransitionTime } = condition;
  const at = Date.parse(lastTransitionTime);
  if (status === 'True') conditions.setTrue(type, at, reason, message);
  else if (status === 'False') conditions.setFalse(type, at, reason, message);
  else conditions.setUnknown(type, at, reason, message);
}
