/**
 * A fix as manifests for `kubectl apply`. Apply keeps fields that a manifest omits unless the last applied manifest had
 * them, so each manifest has the fields of the last applied one, with the values of today: what was changed since, such
 * as replicas by an autoscaler, must stay. Removed fields are set to null; for entries removed from a list, the current
 * list is first applied as it is, because apply only removes entries that were applied before.
 */
import type { KubeObject } from '../api/object.ts';
import type { ExplainedFix, ObjectName, Patch } from '../ledger/explanation.ts';
import { deepMerged } from './podFixes.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

type Fields = Patch['patch'];

/** Undefined when the fix does more than change objects: `kubectl apply` cannot delete. */
export async function appliedManifests(
  { patches }: ExplainedFix,
  read: (target: ObjectName) => Promise<KubeObject>,
): Promise<readonly Fields[] | undefined> {
  if (patches.some(({ type }) => type !== 'merge')) return undefined;
  const bases = new Map<string, Fields>();
  const manifests: Fields[] = [];
  for (const { target, patch } of patches) {
    const key = JSON.stringify(target);
    let base = bases.get(key);
    if (base === undefined) {
      const object = await read(target);
      base = deepMerged(lastApplied(object), identity(target));
      const lists = listsOf(patch, object as unknown as Fields);
      if (lists !== undefined) manifests.push(deepMerged(base, lists));
    }
    const manifest = deepMerged(base, patch);
    bases.set(key, manifest);
    manifests.push(manifest);
  }
  return manifests;
}

function identity({ apiVersion, kind, namespace, name }: ObjectName): Fields {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

/** The object's current values where the last applied manifest has fields. */
function lastApplied(object: KubeObject): Fields {
  const text = object.metadata.annotations?.[LAST_APPLIED];
  const applied = text === undefined ? undefined : parsed(text);
  return isFields(applied) ? within(applied, object as unknown as Fields) : {};
}

/** kubectl, too, cannot use an annotation that is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function within(fields: Fields, object: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]): (readonly [string, unknown])[] => {
      const now = object[key];
      if (now === undefined) return [];
      return [[key, isFields(value) && isFields(now) ? within(value, now) : now]];
    }),
  );
}

/** The object's current values where the patch has lists. */
function listsOf(patch: Fields, object: Fields): Fields | undefined {
  const found = Object.entries(patch).flatMap(([key, value]): (readonly [string, unknown])[] => {
    const now = object[key];
    if (Array.isArray(value)) return Array.isArray(now) ? [[key, now]] : [];
    if (!isFields(value) || !isFields(now)) return [];
    const inner = listsOf(value, now);
    return inner === undefined ? [] : [[key, inner]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
