/**
 * The history of a StatefulSet or DaemonSet. In: the owner with its template. Out: a ControllerRevision for each
 * template it ever had, the newest being the template of now, and no more old ones than the owner wants.
 */
import { Kinds, type ControllerRevision } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { ignoreNotFound, isAlreadyExists } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import { BY_CONTROLLER } from './ownedObjects.ts';
import { ownerReference, type Template } from './ownedPods.ts';
import { templateHash } from './templateHash.ts';

export const REVISION_LABEL = 'controller-revision-hash';

export class Revisions {
  private readonly kube: Kube;
  private readonly kind: ResourceKind<KubeObject>;
  private readonly informer: Informer<ControllerRevision>;

  constructor(kube: Kube, kind: ResourceKind<KubeObject>, informer: Informer<ControllerRevision>) {
    this.kube = kube;
    this.kind = kind;
    this.informer = informer;
  }

  /** Makes sure that the template of now has the highest revision; returns that one. */
  async current(owner: KubeObject, template: Template): Promise<ControllerRevision> {
    const { name: ownerName, namespace } = owner.metadata;
    const name = `${ownerName}-${templateHash(template)}`;
    const known = this.of(owner);
    const highest = known.at(-1);
    if (highest?.metadata.name === name) return highest;
    const revision = (highest?.revision ?? 0) + 1;
    const ref = { name, namespace };
    if (known.some(({ metadata }) => metadata.name === name)) {
      return this.kube.patch(Kinds.ControllerRevision, ref, { type: 'merge', body: { revision } });
    }
    try {
      return await this.kube.create(Kinds.ControllerRevision, {
        metadata: {
          name,
          ...(namespace && { namespace }),
          labels: { ...template.metadata?.labels, [REVISION_LABEL]: name },
          ownerReferences: [ownerReference(this.kind, owner)],
        },
        // Kubernetes keeps the template as the patch that would bring it back.
        data: { spec: { template: { ...template, $patch: 'replace' } } },
        revision,
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.kube.get(Kinds.ControllerRevision, ref);
    }
  }

  /** The template that a revision stands for; undefined when it is forgotten. */
  template(owner: KubeObject, name: string): Template | undefined {
    const revision = this.of(owner).find(({ metadata }) => metadata.name === name);
    const data = revision?.data as
      { readonly spec?: { readonly template?: Template & { $patch?: string } } } | undefined;
    if (!data?.spec?.template) return undefined;
    const { $patch: _patch, ...template } = data.spec.template;
    return template;
  }

  /** Drops the oldest revisions beyond `limit` that no pod and no status refers to. */
  async forget(owner: KubeObject, limit: number, inUse: ReadonlySet<string>): Promise<void> {
    const idle = this.of(owner).filter(({ metadata }) => !inUse.has(metadata.name));
    for (const { metadata } of idle.slice(0, Math.max(0, idle.length - limit))) {
      await ignoreNotFound(
        this.kube.delete(Kinds.ControllerRevision, { name: metadata.name, namespace: metadata.namespace }),
      );
    }
  }

  private of(owner: KubeObject): readonly ControllerRevision[] {
    const own = this.informer.store.byIndex(BY_CONTROLLER, owner.metadata.uid ?? '');
    return [...own].sort((left, right) => (left.revision ?? 0) - (right.revision ?? 0));
  }
}
