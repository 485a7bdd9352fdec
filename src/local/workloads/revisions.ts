/** The ControllerRevisions of StatefulSets and DaemonSets, which contain their current and earlier templates. */
import { Kinds, type ControllerRevision } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { BY_CONTROLLER } from '../clusterInformers.ts';
import type { ControlPlaneContext } from '../controlLoop.ts';
import { createIfAbsent, inNamespaceOf, ownerReference, remove } from '../writes.ts';
import type { Template } from './ownedPods.ts';
import { templateHash } from './templateHash.ts';

export const REVISION_LABEL = 'controller-revision-hash';

export class Revisions {
  private readonly kind: ResourceKind<KubeObject>;
  private readonly context: ControlPlaneContext;

  constructor(kind: ResourceKind<KubeObject>, context: ControlPlaneContext) {
    this.kind = kind;
    this.context = context;
  }

  /** Returns the revision of the current template; creates it, or gives it the highest number, if needed. */
  async current(owner: KubeObject, template: Template): Promise<ControllerRevision> {
    const { kube } = this.context;
    const name = `${owner.metadata.name}-${templateHash(template)}`;
    const known = this.of(owner);
    const highest = known.at(-1);
    if (highest?.metadata.name === name) return highest;
    const revision = (highest?.revision ?? 0) + 1;
    const ref = { name, namespace: owner.metadata.namespace };
    if (known.some(({ metadata }) => metadata.name === name)) {
      return kube.patch(Kinds.ControllerRevision, ref, { type: 'merge', body: { revision } });
    }
    const created = await createIfAbsent(kube, Kinds.ControllerRevision, {
      metadata: {
        name,
        ...inNamespaceOf(owner),
        labels: { ...template.metadata?.labels, [REVISION_LABEL]: name },
        ownerReferences: [ownerReference(this.kind, owner)],
      },
      // Upstream stores the template as a patch that restores it.
      data: { spec: { template: { ...template, $patch: 'replace' } } },
      revision,
    });
    return created ?? kube.get(Kinds.ControllerRevision, ref);
  }

  /** Returns the template of a revision; undefined if the revision does not exist. */
  template(owner: KubeObject, name: string): Template | undefined {
    const revision = this.of(owner).find(({ metadata }) => metadata.name === name);
    const data = revision?.data as
      { readonly spec?: { readonly template?: Template & { $patch?: string } } } | undefined;
    if (!data?.spec?.template) return undefined;
    const { $patch: _patch, ...template } = data.spec.template;
    return template;
  }

  /** Deletes the oldest of the revisions that are not in use, beyond `limit`. */
  async prune(owner: KubeObject, limit: number, inUse: ReadonlySet<string>): Promise<void> {
    const idle = this.of(owner).filter(({ metadata }) => !inUse.has(metadata.name));
    for (const revision of idle.slice(0, Math.max(0, idle.length - limit))) {
      await remove(this.context.kube, Kinds.ControllerRevision, revision);
    }
  }

  private of(owner: KubeObject): readonly ControllerRevision[] {
    const own = this.context.informers.revisions.store.byIndex(BY_CONTROLLER, owner.metadata.uid ?? '');
    return [...own].sort((left, right) => (left.revision ?? 0) - (right.revision ?? 0));
  }
}
