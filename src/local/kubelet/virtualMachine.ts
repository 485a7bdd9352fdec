import { Labels } from '../../api/labels.ts';
import { Quantity } from '../../units/quantity.ts';
import type { LocalVirtualMachine } from '../arm/virtualMachines.ts';
import type { Machine } from './machine.ts';

/** What the firmware and the kernel keep of a machine's memory before the kubelet counts it. */
const KERNEL_SHARE = 0.03;
const GIBI = 2 ** 30;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

/**
 * The computer inside a virtual machine. In: the VM, with the script that it runs at its first start. Out: how its
 * kubelet will present itself; undefined when the script starts no kubelet.
 */
export function machineFromVirtualMachine(vm: LocalVirtualMachine): Machine | undefined {
  const script = Buffer.from(vm.customData ?? '', 'base64').toString();
  const variables = readVariables(script);
  const flags = readFlags(variables.get('KUBELET_FLAGS') ?? '');
  if (flags.size === 0) return undefined;
  const capacity = {
    cpu: Quantity.fromValue(vm.vCPUs),
    memory: Quantity.fromValue(Math.floor((vm.memoryGiB * (1 - KERNEL_SHARE) * GIBI) / 1024) * 1024, 'BinarySI'),
    'ephemeral-storage': Quantity.fromValue(vm.osDiskSizeGB * GIBI, 'BinarySI'),
    pods: Quantity.parse(flags.get('max-pods') ?? '110'),
    ...(vm.gpus > 0 && { 'nvidia.com/gpu': Quantity.fromValue(vm.gpus) }),
  };
  const reserved = readPairs(flags.get('kube-reserved') ?? '');
  const evictionMemory = /memory\.available<([^,]+)/.exec(flags.get('eviction-hard') ?? '')?.[1] ?? '0';
  const allocatable = {
    ...capacity,
    cpu: capacity.cpu.subtract(Quantity.parse(reserved.cpu ?? '0')),
    memory: capacity.memory.subtract(Quantity.parse(reserved.memory ?? '0')).subtract(Quantity.parse(evictionMemory)),
  };
  return {
    name: vm.computerName,
    providerID: providerId(vm.id),
    labels: {
      ...readPairs(variables.get('KUBELET_NODE_LABELS') ?? ''),
      [Labels.arch]: variables.get('ARCHITECTURE') ?? 'amd64',
      [Labels.os]: 'linux',
      [Labels.instanceType]: vm.size,
      [Labels.region]: vm.location,
      [Labels.zone]: vm.zone === undefined ? '0' : `${vm.location}-${vm.zone}`,
    },
    taints: readTaints(variables.get('KUBELET_REGISTER_WITH_TAINTS') ?? ''),
    capacity: texts(capacity),
    allocatable: texts(allocatable),
    kubeletVersion: `v${variables.get('KUBERNETES_VERSION') ?? '0.0.0'}`,
    osImage: 'Ubuntu 24.04.3 LTS',
  };
}

/** `azure://` and the VM's id, its resource group in lower case as the cloud provider writes it. */
function providerId(id: string): string {
  return `azure://${id.replace(/(\/resourceGroups\/)([^/]+)/, (_match, prefix: string, group: string) => prefix + group.toLowerCase())}`;
}

/** `NAME='value'` lines; a quote inside is written `'\''`. */
function readVariables(script: string): Map<string, string> {
  const variables = new Map<string, string>();
  for (const [, name = '', value = ''] of script.matchAll(/^([A-Z][A-Z0-9_]*)='((?:[^']|'\\'')*)'$/gm)) {
    variables.set(name, value.replaceAll(`'\\''`, "'"));
  }
  return variables;
}

function readFlags(text: string): Map<string, string> {
  return new Map([...text.matchAll(/--([a-z-]+)=(\S*)/g)].map(([, name = '', value = '']) => [name, value]));
}

function readPairs(text: string): Record<string, string> {
  const pairs = text.split(',').filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

function readTaints(text: string): Machine['taints'] {
  return text.split(',').flatMap((entry) => {
    const [, key = '', value = '', name] = /^([^=:]+)=?([^:]*):(\w+)$/.exec(entry) ?? [];
    const effect = EFFECTS.find((known) => known === name);
    return effect ? [{ key, effect, ...(value && { value }) }] : [];
  });
}

const texts = (amounts: Readonly<Record<string, Quantity>>): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, amount.toString()]));
