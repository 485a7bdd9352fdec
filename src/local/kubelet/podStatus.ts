import type { Pod } from '../../api/kinds.ts';

/** The label with which users of kwok ask for a pod whose probes never succeed. */
const STAGE = { key: 'kwok.x-k8s.io/stage', unhealthy: 'unhealthy' };

/** What a kubelet reports once all containers of a pod run. */
export function runningStatus(pod: Pod, at: string, node: string): Pod['status'] {
  const healthy = pod.metadata.labels?.[STAGE.key] !== STAGE.unhealthy;
  const condition = (type: string): NonNullable<NonNullable<Pod['status']>['conditions']>[number] => ({
    type,
    status: healthy || !type.endsWith('Ready') ? 'True' : 'False',
    lastTransitionTime: at,
  });
  const podIP = podAddress(pod.metadata.uid ?? pod.metadata.name);
  return {
    phase: 'Running',
    startTime: pod.status?.startTime ?? at,
    hostIP: pod.status?.hostIP ?? node,
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
      name,
      image,
      imageID: image,
      containerID: `containerd://${pod.metadata.uid ?? ''}-${name}`,
      ready: healthy,
      started: true,
      restartCount: 0,
      lastState: {},
      state: { running: { startedAt: at } },
    })),
  };
}

/** An address in the pod network 10.244.0.0/16, always the same for a pod. */
function podAddress(uid: string): string {
  let hash = 0;
  for (const character of uid) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return `10.244.${(hash >>> 8) % 256}.${(hash % 250) + 2}`;
}
