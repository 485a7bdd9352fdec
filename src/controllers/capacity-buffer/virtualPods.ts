import type { PodSpec, PodTemplateSpec, Volume } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../../api/kinds.ts';
import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import { Annotations } from '../../api/labels.ts';

const LOWEST_PRIORITY = -(2 ** 31);

/** Pods that exist only in plans: the room that a buffer reserves. */
export function virtualPods({ metadata }: CapacityBuffer, template: PodTemplateSpec, count: number): readonly Pod[] {
  const spec = bareSpec(template.spec ?? { containers: [] });
  return Array.from({ length: count }, (_, index) => ({
    metadata: {
      name: `capacity-buffer-${metadata.name}-${index}`,
      namespace: metadata.namespace ?? 'default',
      uid: `${metadata.uid ?? metadata.name}-${index}`,
      labels: { ...template.metadata?.labels },
      annotations: {
        [Annotations.bufferFakePod]: 'true',
        [Annotations.bufferName]: metadata.name,
        [Annotations.bufferNamespace]: metadata.namespace ?? 'default',
      },
    },
    spec,
    status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  }));
}

export const isVirtual = ({ metadata }: Pod): boolean => metadata.annotations?.[Annotations.bufferFakePod] === 'true';

/** The key of the buffer that a virtual pod belongs to. */
export const bufferKeyOf = ({ metadata }: Pod): string =>
  `${metadata.annotations?.[Annotations.bufferNamespace]}/${metadata.annotations?.[Annotations.bufferName]}`;

/** Without storage: a disk belongs to one pod, and a virtual pod has none. */
function bareSpec({ nodeName: _nodeName, volumes = [], ...spec }: PodSpec): PodSpec {
  const kept = volumes.filter((volume) => !isStorage(volume));
  const gone = new Set(volumes.filter(isStorage).map(({ name }) => name));
  const containers = spec.containers.map(({ volumeMounts = [], ...container }) => ({
    ...container,
    volumeMounts: volumeMounts.filter(({ name }) => !gone.has(name)),
  }));
  return { ...spec, containers, volumes: kept, priority: LOWEST_PRIORITY };
}

const isStorage = ({ persistentVolumeClaim, ephemeral }: Volume): boolean =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined;
