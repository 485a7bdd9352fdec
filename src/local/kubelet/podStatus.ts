import type { Pod } from '../../api/kinds.ts';

/** What a kubelet reports once all containers of a pod run. */
export function runningStatus(pod: Pod, at: string, node: string): Pod['status'] {
  const ready = (type: string): NonNullable<NonNullable<Pod['status']>['conditions']>[number] => ({
    type,
    status: 'True',
    lastTransitionTime: at,
  });
  const podIP = podAddress(pod.metadata.uid ?? pod.metadata.name);
  return {
    phase: 'Running',
    startTime: pod.status?.startTime ?? at,
    hostIP: pod.status?.hostIP ?? node,
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(ready),
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
      name,
      image,
      imageID: image,
      containerID: `containerd://${pod.metadata.uid ?? ''}-${name}`,
      ready: true,
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
