import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { Reasons } from '../../api/conditionTypes.ts';
import { Kinds } from '../../api/kinds.ts';
import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';

/** What a buffer refers to: the shape of its pods, and of a workload how many there are. */
export type Resolution =
  | {
      readonly kind: 'resolved';
      readonly template: PodTemplateSpec;
      readonly replicas?: number;
      /** Of the PodTemplate, when it is one. */
      readonly generation?: number;
    }
  | { readonly kind: 'missing'; readonly reason: string; readonly message: string };

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
      return { kind: 'missing', reason: Reasons.podTemplateNotFound, message: `PodTemplate ${name} does not exist` };
    }
  }
  const { scalableRef } = spec;
  const failed = (message: string): Resolution => ({ kind: 'missing', reason: Reasons.resolutionFailed, message });
  if (!scalableRef) return failed('neither podTemplateRef nor scalableRef is set');
  const { apiGroup = '', kind, name } = scalableRef;
  const workload = Object.hasOwn(WORKLOADS, kind) ? WORKLOADS[kind as keyof typeof WORKLOADS] : undefined;
  if (!workload || (apiGroup !== '' && apiGroup !== 'apps')) {
    return failed(`${kind} of group "${apiGroup}" cannot be buffered; use a Deployment, StatefulSet or ReplicaSet`);
  }
  try {
    const found = await kube.get<WorkloadLike>(workload, { name, namespace }, { signal });
    return { kind: 'resolved', template: found.spec?.template ?? {}, replicas: found.spec?.replicas ?? 1 };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { kind: 'missing', reason: Reasons.scalableRefNotFound, message: `${kind} ${name} does not exist` };
  }
}

interface WorkloadLike {
  metadata: { name: string };
  spec?: { replicas?: number; template?: PodTemplateSpec };
}
