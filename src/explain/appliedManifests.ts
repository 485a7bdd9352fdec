/**
 * A fix as manifests for `kubectl apply`. That keeps what a manifest does not name only if it did not name it before, so each
 * manifest begins with what was applied last. What a patch takes away is named as null, and what it takes out of a list is
 * applied once as it is: only what was applied before can be left out.
 */
import type { KubeObject } from '../api/object.ts';
import type { ExplainedFix, ObjectName, Patch } from '../ledger/explanation.ts';
import { deepMerged } from './podFixes.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

type Fields = Patch['patch'];

/** Undefined when the fix is more than changes of objects: `kubectl apply` deletes nothing. */
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

function lastApplied({ metadata }: KubeObject): Fields {
  const text = metadata.annotations?.[LAST_APPLIED];
  return text === undefined ? {} : (JSON.parse(text) as Fields);
}

/** What the object has now where the patch has lists. */
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
