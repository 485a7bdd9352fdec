import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { Kinds } from '../../api/kinds.ts';
import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import { conditionText, type ConditionCause, type ConditionText } from '../../ledger/conditionText.ts';

/** What a buffer refers to: the shape of its pods, and of a workload how many there are. */
export type Resolution =
  | {
      readonly kind: 'resolved';
      readonly template: PodTemplateSpec;
      readonly replicas?: number;
      /** Of the PodTemplate, when it is one. */
      readonly generation?: number;
    }
  | (ConditionText & { readonly kind: 'missing' });

const missing = (cause: ConditionCause): Resolution => ({ kind: 'missing', ...conditionText(cause) });

const WORKLOADS = { Deployment: Kinds.Deployment, StatefulSet: Kinds.StatefulSet, ReplicaSet: Kinds.ReplicaSet };

export async function resolveBuffer(
  { metadata, spec }: CapacityBuffer,
  kube: Kube,
  signal: AbortSignal,
): Promise<Resolution> {
  const { namespace } = metadata;
  if (spec.podTemplateRef) {
    const { name } = spec.podTemplateRef;
    try {
      const found = await kube.get(Kinds.PodTemplate, { name, namespace }, { signal });
      return { kind: 'resolved', template: found.template ?? {}, generation: found.metadata.generation ?? 0 };
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return missing({ kind: 'podTemplateMissing', name });
    }
  }
  const { scalableRef } = spec;
  if (!scalableRef) return missing({ kind: 'bufferWithoutReference' });
  const { apiGroup = '', kind, name } = scalableRef;
  const workload = Object.hasOwn(WORKLOADS, kind) ? WORKLOADS[kind as keyof typeof WORKLOADS] : undefined;
  if (!workload || (apiGroup !== '' && apiGroup !== 'apps')) {
    return missing({ kind: 'workloadUnfit', workload: kind, group: apiGroup });
  }
  try {
    const found = await kube.get<WorkloadLike>(workload, { name, namespace }, { signal });
    return { kind: 'resolved', template: found.spec?.template ?? {}, replicas: found.spec?.replicas ?? 1 };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return missing({ kind: 'workloadMissing', workload: kind, name });
  }
}

interface WorkloadLike {
  metadata: { name: string };
  spec?: { replicas?: number; template?: PodTemplateSpec };
}
