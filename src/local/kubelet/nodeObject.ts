import type { Node } from '../../api/kinds.ts';
import { timestamp } from '../../units/timestamp.ts';
import type { Draft } from '../../kube/kube.ts';
import type { Machine } from './machine.ts';

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

/** What the node problem detector of an AKS image reports, from when the node is ready. */
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

function conditions(now: number, ready: Pick<NodeCondition, 'status' | 'reason' | 'message'>): NodeCondition[] {
  const at = { lastHeartbeatTime: timestamp(now), lastTransitionTime: timestamp(now) };
  return [
    ...PRESSURES.map(([type, reason, message]) => ({ type, status: 'False' as const, reason, message, ...at })),
    { type: 'Ready', ...ready, ...at },
  ];
}

/** Of a node that is up, before anything goes wrong with it. */
export function problemConditions(now: number): NodeCondition[] {
  const at = { lastHeartbeatTime: timestamp(now), lastTransitionTime: timestamp(now) };
  return PROBLEMS.map(([type, reason, message]) => ({ type, status: 'False' as const, reason, message, ...at }));
}

export const readyConditions = (now: number): NodeCondition[] =>
  conditions(now, { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' });

/** The Node that a kubelet registers before its network is up. */
export function nodeObject(machine: Machine, now: number): Draft<Node> {
  const arch = machine.labels['kubernetes.io/arch'] ?? 'amd64';
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' as const };
  return {
    metadata: {
      name: machine.name,
      labels: { ...machine.labels },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: { providerID: machine.providerID, taints: [...machine.taints, notReady] },
    status: {
      capacity: { ...machine.capacity },
      allocatable: { ...machine.allocatable },
      addresses: [
        { type: 'InternalIP', address: machine.address ?? machineAddress(machine.name) },
        { type: 'Hostname', address: machine.name },
      ],
      conditions: conditions(now, {
        status: 'False',
        reason: 'KubeletNotReady',
        message: 'container runtime network not ready: NetworkReady=false',
      }),
      nodeInfo: {
        architecture: arch,
        operatingSystem: 'linux',
        kubeletVersion: machine.kubeletVersion,
        kubeProxyVersion: machine.kubeletVersion,
        osImage: machine.osImage,
        kernelVersion: '5.15.0-1090-azure',
        containerRuntimeVersion: 'containerd://1.7.28-1',
        machineID: machine.name,
        systemUUID: machine.name,
        bootID: machine.name,
      },
    },
  };
}

/** An address in the node subnet 10.224.0.0/16, always the same for a name. */
export function machineAddress(name: string): string {
  let hash = 0;
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return `10.224.${(hash >>> 8) % 256}.${(hash % 250) + 4}`;
}
