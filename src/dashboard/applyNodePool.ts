/** Applies a previewed change with the visitor's own rights only. */
import { Kinds } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { messageOf } from '../errors/thrown.ts';
import { isAllowed } from '../kube/accessReviews.ts';
import { ignoreNotFound, KubeError } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import { readManifests } from '../plan/readManifests.ts';
import type { ApplyAnswer } from './screens.ts';

/** The API server with the visitor's rights. */
export interface VisitorKube extends Pick<Kube, 'get' | 'create' | 'patch'> {
  close?(): Promise<void>;
}

const { group, plural: resource } = Kinds.NodePool;

export async function mayApply(kube: VisitorKube): Promise<boolean> {
  try {
    return await isAllowed(kube, 'self', { verb: 'patch', group, resource });
  } catch (error) {
    // An expired token, or an account without the right to ask.
    if (error instanceof KubeError) return false;
    throw error;
  }
}

export async function applyNodePools(kube: VisitorKube, manifest: string): Promise<ApplyAnswer> {
  const { mistakes, pools } = readManifests([{ source: 'NodePool', text: manifest }]);
  const problems = mistakes.map(({ line, message }) => `line ${line}: ${message}`);
  if (problems.length === 0 && pools.length === 0) problems.push('there is no NodePool in it');
  if (problems.length > 0) return { problems, applied: [] };
  const applied: string[] = [];
  for (const pool of pools) {
    try {
      applied.push(`NodePool ${pool.metadata.name} ${await applyOne(kube, pool)}`);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return { problems: [messageOf(error)], applied };
    }
  }
  return { problems: [], applied };
}

/** Labels and annotations not in the manifest are kept. If the object was changed in the meantime, it is a conflict. */
async function applyOne(kube: VisitorKube, { metadata, spec }: NodePool): Promise<string> {
  const { name, labels, annotations } = metadata;
  const current = await ignoreNotFound(kube.get(Kinds.NodePool, { name }));
  const marks = { ...(labels && { labels }), ...(annotations && { annotations }) };
  if (current === undefined) {
    await kube.create(Kinds.NodePool, { metadata: { name, ...marks }, spec });
    return 'created';
  }
  const change = mergePatch({ spec: current.spec }, { spec });
  const isMarked = (['labels', 'annotations'] as const).every((field) =>
    Object.entries(metadata[field] ?? {}).every(([key, value]) => current.metadata[field]?.[key] === value),
  );
  if (change === undefined && isMarked) return 'is so already';
  const { resourceVersion } = current.metadata;
  const body = { ...change, metadata: { ...marks, ...(resourceVersion && { resourceVersion }) } };
  await kube.patch(Kinds.NodePool, { name }, { type: 'merge', body });
  return 'changed';
}
