import type { Node } from '../../api/kinds.ts';
import { timestamp } from '../../units/timestamp.ts';
import type { Draft } from '../../kube/kube.ts';
import type { BootedInstance } from './instance.ts';

interface NodeCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
}

const PRESSURES = [
  ['MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
] as const;

/** Conditions that the node problem detector of AKS images reports once the node is ready. */
const PROBLEMS = [
  ['ContainerRuntimeProblem', 'ContainerRuntimeIsUp', 'container runtime service is up'],
  ['KubeletProblem', 'KubeletIsUp', 'kubelet service is up'],
  ['KernelDeadlock', 'KernelHasNoDeadlock', 'kernel has no deadlock'],
  ['ReadonlyFilesystem', 'FilesystemIsNotReadOnly', 'Filesystem is not read-only'],
  ['FilesystemCorruptionProblem', 'FilesystemIsOK', 'Filesystem is healthy'],
  ['FrequentKubeletRestart', 'NoFrequentKubeletRestart', 'kubelet is functioning properly'],
  ['FrequentContainerdRestart', 'NoFrequentContainerdRestart', 'containerd is functioning properly'],
  ['FrequentUnregisterNetDevice', 'NoFrequentUnregisterNetDevice', 'node is functioning properly'],
  ['VMEventScheduled', 'NoVMEventScheduled', 'VM has no scheduled event'],
] as const;

type Row = readonly [type: string, reason: string, message: string];

const condition =
  (now: number, status: NodeCondition['status'] = 'False') =>
  ([type, reason, message]: Row): NodeCondition => {
    const at = timestamp(now);
    return { type, status, reason, message, lastHeartbeatTime: at, lastTransitionTime: at };
  };

/** Returns the conditions of the node problem detector without problems. */
export const problemConditions = (now: number): NodeCondition[] => PROBLEMS.map(condition(now));

export const readyConditions = (now: number): NodeCondition[] => [
  ...PRESSURES.map(condition(now)),
  condition(now, 'True')(['Ready', 'KubeletReady', 'kubelet is posting ready status']),
];

const unreadyConditions = (now: number): NodeCondition[] =>
  [...PRESSURES, ['Ready', 'KubeletNotReady', 'container runtime network not ready: NetworkReady=false'] as const].map(
    condition(now),
  );

/** Returns the Node that a kubelet registers, before its network is ready. */
export function nodeObject(instance: BootedInstance, now: number): Draft<Node> {
  const arch = instance.labels['kubernetes.io/arch'] ?? 'amd64';
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' as const };
  return {
    metadata: {
      name: instance.name,
      labels: { ...instance.labels },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: { providerID: instance.providerID, taints: [...instance.taints, notReady] },
    status: {
      capacity: { ...instance.capacity },
      allocatable: { ...instance.allocatable },
      addresses: [
        { type: 'InternalIP', address: instance.address ?? instanceAddress(instance.name) },
        { type: 'Hostname', address: instance.name },
      ],
      conditions: unreadyConditions(now),
      nodeInfo: {
        architecture: arch,
        operatingSystem: 'linux',
        kubeletVersion: instance.kubeletVersion,
        kubeProxyVersion: instance.kubeletVersion,
        osImage: instance.osImage,
        kernelVersion: '5.15.0-1090-azure',
        containerRuntimeVersion: 'containerd://1.7.28-1',
        machineID: instance.name,
        systemUUID: instance.name,
        bootID: instance.name,
      },
    },
  };
}

/** Returns an address in the node subnet 10.224.0.0/16, derived from the name. */
export function instanceAddress(name: string): string {
  let hash = 0;
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return `10.224.${(hash >>> 8) % 256}.${(hash % 250) + 4}`;
}
