import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { Kinds, type PodTemplate } from '../../api/kinds.ts';
import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Informer, Informers } from '../../kube/informer.ts';
import { keyOf, watch, type Watch } from '../../kube/runtime/watch.ts';
import { conditionText, type ConditionCause, type ConditionText } from '../../ledger/conditionText.ts';

/** What a buffer refers to: the shape of its pods and, for a workload, the number of replicas. */
export type Resolution =
  | {
      readonly kind: 'resolved';
      readonly template: PodTemplateSpec;
      readonly replicas?: number;
      /** Of the PodTemplate, if it is one. */
      readonly generation?: number;
    }
  | (ConditionText & { readonly kind: 'missing' });

interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly template?: PodTemplateSpec };
}

const missing = (cause: ConditionCause): Resolution => ({ kind: 'missing', ...conditionText(cause) });

/** Watched objects that buffers may refer to, so that an idle cluster gets no requests for them. */
export class BufferReferences {
  private readonly podTemplates: Informer<PodTemplate>;
  private readonly workloads: ReadonlyMap<string, Informer<Workload>>;

  constructor(informers: Informers) {
    this.podTemplates = informers.of(Kinds.PodTemplate);
    this.workloads = new Map<string, Informer<Workload>>([
      ['Deployment', informers.of(Kinds.Deployment)],
      ['StatefulSet', informers.of(Kinds.StatefulSet)],
      ['ReplicaSet', informers.of(Kinds.ReplicaSet)],
    ]);
  }

  resolve({ metadata: { namespace }, spec }: CapacityBuffer): Resolution {
    if (spec.podTemplateRef) {
      const { name } = spec.podTemplateRef;
      const found = this.podTemplates.store.get({ name, namespace });
      if (found === undefined) return missing({ kind: 'podTemplateMissing', name });
      return { kind: 'resolved', template: found.template ?? {}, generation: found.metadata.generation ?? 0 };
    }
    const { scalableRef } = spec;
    if (!scalableRef) return missing({ kind: 'bufferWithoutReference' });
    const { apiGroup = '', kind, name } = scalableRef;
    const workloads = this.workloads.get(kind);
    if (!workloads || (apiGroup !== '' && apiGroup !== 'apps')) {
      return missing({ kind: 'workloadUnfit', workload: kind, group: apiGroup });
    }
    const found = workloads.store.get({ name, namespace });
    if (found === undefined) return missing({ kind: 'workloadMissing', workload: kind, name });
    return { kind: 'resolved', template: found.spec?.template ?? {}, replicas: found.spec?.replicas ?? 1 };
  }

  /** Reconciles the buffers that refer to a changed object; changes of status alone are ignored. */
  watches(buffers: Informer<CapacityBuffer>): readonly Watch[] {
    const referring = (object: KubeObject, refers: (spec: CapacityBuffer['spec']) => boolean): string[] =>
      [...buffers.store.list()]
        .filter(({ metadata, spec }) => metadata.namespace === object.metadata.namespace && refers(spec))
        .map(keyOf);
    return [
      watch(this.podTemplates, ({ object }) =>
        referring(object, ({ podTemplateRef }) => podTemplateRef?.name === object.metadata.name),
      ),
      ...[...this.workloads].map(([kind, informer]) =>
        watch(informer, (event) => {
          const { object } = event;
          if (event.type === 'updated' && event.old.spec === object.spec) return [];
          return referring(
            object,
            ({ scalableRef }) => scalableRef?.kind === kind && scalableRef.name === object.metadata.name,
          );
        }),
      ),
    ];
  }
}
