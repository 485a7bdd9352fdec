/** The custom data of a node, in the variables that the provisioning code on AKS images reads. */
import { EVICTION_HARD, kubeReservedMebibytes, kubeReservedMillicores } from '../../../catalogue/overhead.ts';

export interface NodeScript {
  readonly kubernetesVersion: string;
  readonly cpus: number;
  readonly memoryGiB: number;
  readonly maxPods: number;
  readonly architecture: 'amd64' | 'arm64';
  readonly labels: Readonly<Record<string, string>>;
  /** `key=value:effect`. */
  readonly taints: readonly string[];
  readonly bootstrapToken: string;
  /** Kubelet flags that the profile sets, by name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Any further variables. */
  readonly variables: Readonly<Record<string, string>>;
}

export function renderNodeScript(node: NodeScript): string {
  const flags: Readonly<Record<string, string>> = {
    'cloud-provider': 'external',
    'eviction-hard': `${EVICTION_HARD},nodefs.inodesFree<5%`,
    'kube-reserved': `cpu=${kubeReservedMillicores(node.cpus)}m,memory=${kubeReservedMebibytes(node.memoryGiB)}Mi`,
    'max-pods': String(node.maxPods),
    'rotate-certificates': 'true',
    'system-reserved': 'cpu=0,memory=0',
    ...node.flags,
  };
  const variables: Readonly<Record<string, string>> = {
    ...node.variables,
    KUBERNETES_VERSION: node.kubernetesVersion,
    TLS_BOOTSTRAP_TOKEN: node.bootstrapToken,
    ARCHITECTURE: node.architecture,
    KUBELET_FLAGS: sorted(flags)
      .map(([name, value]) => `--${name}=${value}`)
      .join(' '),
    KUBELET_NODE_LABELS: sorted(node.labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
    KUBELET_REGISTER_WITH_TAINTS: node.taints.map(normalTaint).join(','),
  };
  const lines = [
    '#!/bin/bash',
    'set -o allexport',
    ...Object.entries(variables).map(([name, value]) => `${name}=${quote(value)}`),
    '/bin/bash /opt/azure/containers/provision_start.sh',
    '',
  ];
  return Buffer.from(lines.join('\n')).toString('base64');
}

/** `key:effect` is short for an empty value. */
function normalTaint(taint: string): string {
  return taint.includes('=') ? taint : taint.replace(/:(?=[^:]*$)/, '=:');
}

function sorted(record: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(record).toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** Single quotes keep the shell from reading anything into a value. */
function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
