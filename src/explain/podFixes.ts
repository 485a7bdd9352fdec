/** Edits that give a pod a place, as patches of the objects that can still change. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { apiVersionOf } from '../api/object.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import { changeText } from '../ledger/changeText.ts';
import { applyEdits, type Edit } from '../solver/edit.ts';
import type { PoolOffer } from '../solver/problem.ts';
import type { ExplainedFix, ObjectName, Patch } from '../ledger/explanation.ts';

/** What has to be patched to get another pod: the object whose template makes it, or the pod itself. */
export interface PodSource {
  readonly target: ObjectName;
  /** Where the pod template is in the object; empty for a pod. */
  readonly templatePath: readonly string[];
  /** As it is on the server: what a loop remembers of a pod lacks most of its containers. */
  readonly spec: NonNullable<Pod['spec']>;
}

export function podFix(edits: readonly Edit[], source: PodSource, pools: readonly PoolOffer[]): ExplainedFix {
  const { target, templatePath, spec } = source;
  const after = applyEdits(edits, { pod: { metadata: { name: target.name }, spec }, pools });
  const ofSpec = mergePatch({ spec }, { spec: after.pod.spec ?? {} });
  const ofPools = after.pools.flatMap(({ pool }, at): Patch[] => {
    const before = pools[at]?.pool;
    const patch = before && mergePatch({ spec: before.spec }, { spec: pool.spec });
    if (patch === undefined) return [];
    const name = { apiVersion: apiVersionOf(Kinds.NodePool), kind: Kinds.NodePool.kind, name: pool.metadata.name };
    return [{ target: name, type: 'merge', patch }];
  });
  return {
    sentence: edits.map(({ change }) => changeText(change)).join(', and '),
    patches: [
      ...(ofSpec === undefined ? [] : [{ target, type: 'merge' as const, patch: nested(templatePath, ofSpec) }]),
      ...ofPools,
    ],
  };
}

/** The patch of a part, at its path in the object. */
export function nested(path: readonly string[], patch: Patch['patch']): Patch['patch'] {
  return path.reduceRight<Patch['patch']>((inner, key) => ({ [key]: inner }), patch);
}
