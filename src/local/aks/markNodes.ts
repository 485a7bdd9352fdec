/** Applies changed labels and taints of an agent pool to its existing nodes; labels and taints of others stay. */
import { Kinds } from '../../api/kinds.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import { formatTaint } from '../../pods/taints.ts';
import { readTaint } from '../kubelet/bootInstance.ts';
import type { PoolMarks } from '../arm/containerservice/poolRollouts.ts';

export interface MarkOptions {
  readonly kube: Kube;
  readonly pool: string;
  readonly before: PoolMarks;
  readonly after: PoolMarks;
}

export async function markNodes({ kube, pool, before, after }: MarkOptions): Promise<void> {
  const gone = Object.keys(before.labels).filter((key) => after.labels[key] === undefined);
  const labels = { ...Object.fromEntries(gone.map((key) => [key, null])), ...after.labels };
  const old = new Set(before.taints);
  const { items } = await kube.list(Kinds.Node, { labelSelector: `kubernetes.azure.com/agentpool=${pool}` });
  for (const { metadata, spec } of items) {
    const others = (spec?.taints ?? []).filter((taint) => {
      const text = formatTaint(taint);
      return !old.has(text) && !after.taints.includes(text);
    });
    const taints = [...others, ...after.taints.map(readTaint)];
    const body = { metadata: { labels }, spec: { taints: taints.length === 0 ? null : taints } };
    await ignoreNotFound(kube.patch(Kinds.Node, { name: metadata.name }, { type: 'merge', body }));
  }
}
