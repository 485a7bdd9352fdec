/** Edits that give a pod a place, as patches of the objects that can still change. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { apiVersionOf } from '../api/object.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import { changeText } from '../ledger/changeText.ts';
import { applyEdits, type Edit } from '../solver/edit.ts';
import type { PoolOffer } from '../solver/problem.ts';
import type { ExplainedFix, ObjectName, Patch } from '../ledger/explanation.ts';

type Spec = NonNullable<Pod['spec']>;

/** What has to be patched to get another pod: the object whose template makes it, or the pod itself. */
export interface PodSource {
  readonly target: ObjectName;
  /** Where the pod template is in the object; empty for a pod. */
  readonly templatePath: readonly string[];
  /** As it is on the server: what a loop remembers of a pod lacks most of its containers. */
  readonly spec: Spec;
  /** The same after changes that belong to the fix already. */
  readonly edited?: Spec;
  /** Replicas that the owner has to go down to, and back up, before it makes the pod anew; absent when it does so by itself. */
  readonly scale?: { readonly down: number; readonly up: number } | undefined;
  /** The template has changed since the pod was made, and its owner is about to replace it. */
  readonly isOutdated?: boolean;
  /** Of a StatefulSet: the number of its first pod. */
  readonly firstOrdinal?: number;
  /** What the patch of the template changes of the owner beside it. */
  readonly extra?: Patch['patch'];
  /** The whole object, to be created again: its template, or the spec of a pod that nothing owns, cannot be patched. */
  readonly remake?: Patch['patch'];
}

export const hasTemplate = ({ templatePath }: PodSource): boolean => templatePath.length > 0;

/** Whether there is a way to pods with another spec. */
export const canChange = (source: PodSource): boolean => hasTemplate(source) || source.remake !== undefined;

export function podFix(edits: readonly Edit[], source: PodSource, pools: readonly PoolOffer[]): ExplainedFix {
  const { target, spec, edited = spec } = source;
  const after = applyEdits(edits, { pod: { metadata: { name: target.name }, spec: edited }, pools });
  const ofPools = after.pools.flatMap(({ pool }, at): Patch[] => {
    const before = pools[at]?.pool;
    const patch = before && mergePatch({ spec: before.spec }, { spec: pool.spec });
    if (patch === undefined) return [];
    const name = { apiVersion: apiVersionOf(Kinds.NodePool), kind: Kinds.NodePool.kind, name: pool.metadata.name };
    return [{ target: name, type: 'merge', patch }];
  });
  const isTogether = edits.some(({ change }) => change.kind === 'pod-affinity' && change.relation === 'anti-affinity');
  const isOfPod = mergePatch({ spec: edited }, { spec: after.pod.spec }) !== undefined;
  // What changed the pod before has its own patches.
  const ofPod = isOfPod ? templatePatches(isTogether ? atOnce(source) : source, after.pod.spec ?? edited) : [];
  return {
    sentence: edits.map(({ change }) => changeText(change)).join(', and '),
    // The pod first: others that wait for the same pool must not get its room while it is being made.
    patches: [...ofPod, ...ofPools],
  };
}

/** Old pods that keep away from the new ones would be waited for without end: the owner replaces all of them at once. */
export function atOnce(source: PodSource): PodSource {
  if (source.scale) return { ...source, scale: { ...source.scale, down: 0 } };
  return source.target.kind === 'Deployment' ? { ...source, extra: ALL_AT_ONCE } : source;
}

/** What lets a Deployment replace all its pods at once. */
export const ALL_AT_ONCE: Patch['patch'] = {
  spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } } },
};

/** What can still change of a pod. */
const PATCHABLE: readonly string[] = ['tolerations', 'schedulingGates'];

/** What makes the owner run pods with this spec. */
export function templatePatches(source: PodSource, after: Spec): readonly Patch[] {
  const { target, templatePath, spec, scale, extra = {}, remake } = source;
  const change = mergePatch({ spec }, { spec: after });
  if (change === undefined) return [];
  const isPatchable =
    templatePath.length === 0 && Object.keys(change['spec'] as object).every((key) => PATCHABLE.includes(key));
  if (remake !== undefined && !isPatchable) {
    return [
      { target, type: 'delete', patch: {} },
      { target, type: 'create', patch: withSpec(remake, templatePath, after) },
    ];
  }
  const patch = deepMerged(nested(templatePath, change), extra);
  if (scale === undefined) return [{ target, type: 'merge', patch }];
  return [
    { target, type: 'merge', patch: deepMerged(patch, { spec: { replicas: scale.down } }) },
    { target, type: 'merge', patch: { spec: { replicas: scale.up } } },
  ];
}

/** The object with another spec of its pods. */
function withSpec(object: Patch['patch'], [first, ...rest]: readonly string[], spec: Spec): Patch['patch'] {
  if (first === undefined) return { ...object, spec };
  return { ...object, [first]: withSpec(object[first] as Patch['patch'], rest, spec) };
}

/** The patch of a part, at its path in the object. */
function nested(path: readonly string[], patch: Patch['patch']): Patch['patch'] {
  return path.reduceRight<Patch['patch']>((inner, key) => ({ [key]: inner }), patch);
}

/** Two patches of one object, the other after the one, as one. */
export function deepMerged(one: Patch['patch'], other: Patch['patch']): Patch['patch'] {
  const merged = new Map(Object.entries(one));
  for (const [key, value] of Object.entries(other)) {
    const known = merged.get(key);
    merged.set(key, isFields(known) && isFields(value) ? deepMerged(known, value) : value);
  }
  return Object.fromEntries(merged);
}

const isFields = (value: unknown): value is Patch['patch'] =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
