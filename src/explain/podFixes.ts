/** Turns edits that place a pod into patches of the objects that can still be changed. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { apiVersionOf } from '../api/object.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import { changeText } from '../ledger/changeText.ts';
import { applyEdits, type Edit } from '../solver/edit.ts';
import type { PoolOffer } from '../solver/problem.ts';
import type { ExplainedFix, ObjectName, Patch } from '../ledger/explanation.ts';

type Spec = NonNullable<Pod['spec']>;

/** The object to patch to get a different pod: the owner with its template, or the pod itself. */
export interface PodSource {
  readonly target: ObjectName;
  /** Path of the pod template in the object; empty for a pod. */
  readonly templatePath: readonly string[];
  /** As on the server: the trimmed pod in memory lacks most fields of its containers. */
  readonly spec: Spec;
  /** The spec after earlier changes of the same fix. */
  readonly edited?: Spec;
  /**
   * Replicas to which the owner must be scaled down and back up so that it recreates the pod; absent when it does so by
   * itself.
   */
  readonly scale?: { readonly down: number; readonly up: number } | undefined;
  /** The template has changed since the pod was created, and its owner is about to replace it. */
  readonly isOutdated?: boolean;
  /** For a StatefulSet: the ordinal of its first pod. */
  readonly firstOrdinal?: number;
  /** Other fields of the owner that the patch changes. */
  readonly extra?: Patch['patch'];
  /**
   * The whole object, to be created again because its template, or the spec of a pod without an owner, cannot be
   * patched.
   */
  readonly remake?: Patch['patch'];
}

export const hasTemplate = ({ templatePath }: PodSource): boolean => templatePath.length > 0;

/** Whether pods with a different spec can be obtained at all. */
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
    // Patch the pod first: other pods that wait for the pool must not take its room while it is recreated.
    patches: [...ofPod, ...ofPools],
  };
}

/** The rollout would wait forever for old pods that exclude the new ones: replace all at once. */
export function atOnce(source: PodSource): PodSource {
  if (source.scale) return { ...source, scale: { ...source.scale, down: 0 } };
  return source.target.kind === 'Deployment' ? { ...source, extra: ALL_AT_ONCE } : source;
}

/** Makes a Deployment replace all its pods at once. */
export const ALL_AT_ONCE: Patch['patch'] = {
  spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } } },
};

/** Pod fields that can still be changed. */
const PATCHABLE: readonly string[] = ['tolerations', 'schedulingGates'];

/** Patches that make the owner run pods with this spec. */
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

/** The object with a different pod spec. */
function withSpec(object: Patch['patch'], [first, ...rest]: readonly string[], spec: Spec): Patch['patch'] {
  if (first === undefined) return { ...object, spec };
  return { ...object, [first]: withSpec(object[first] as Patch['patch'], rest, spec) };
}

/** Wraps a patch at a path of the object. */
function nested(path: readonly string[], patch: Patch['patch']): Patch['patch'] {
  return path.reduceRight<Patch['patch']>((inner, key) => ({ [key]: inner }), patch);
}

/** Merges two patches of one object, applied in this order. */
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
