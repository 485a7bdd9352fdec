/**
 * Determines the Node that a VM registers, from its custom data (the script that an AKS image runs at its first start),
 * with the additions of the cloud's node controller and the device plugin.
 */
import { Labels } from '../../api/labels.ts';
import { Quantity } from '../../units/quantity.ts';
import { formatResources, parseResources, subtractResources, type Resources } from '../../units/resources.ts';
import { gpuSize } from '../../catalogue/gpuRegistry.ts';
import type { BootedInstance } from './instance.ts';
import { readPairs, readStartScript, type StartedKubelet } from './startScript.ts';
import type { LocalVirtualMachine } from '../arm/virtualMachines.ts';

const KIBI = 1024;
const MEBI = 2 ** 20;
const GIBI = 2 ** 30;
/** AKS nodes have 98 % of their memory minus the firmware's, and 96.8 % of their disk because of the file system. */
const MEMORY_SHARE = 0.98;
const FIRMWARE_BYTES = 64 * MEBI;
const DISK_SHARE = 0.968;
const OS_IMAGES: readonly (readonly [RegExp, string])[] = [
  [/\/2404/, 'Ubuntu 24.04.3 LTS'],
  [/\/2204/, 'Ubuntu 22.04.5 LTS'],
  [/\/V3/, 'Microsoft Azure Linux 3.0'],
  [/\/V2/, 'CBL-Mariner/Linux'],
];

/** Returns undefined if the script does not start a kubelet, so that the instance never joins: see `bootProblem`. */
export function bootInstance(vm: LocalVirtualMachine): BootedInstance | undefined {
  const kubelet = bootedKubelet(vm);
  if (kubelet === undefined) return undefined;
  const { flags, labels, kubernetesVersion, bootstrapToken } = kubelet;
  const capacity = capacityOf(vm, flags.get('max-pods') ?? '0');
  return {
    name: vm.computerName.toLowerCase(),
    providerID: `azure://${vm.id.replace(`/resourceGroups/${vm.resourceGroup}/`, `/resourceGroups/${vm.resourceGroup.toLowerCase()}/`)}`,
    bootstrapToken,
    labels: { ...labels, ...cloudLabels(vm) },
    taints: readTaints(flags.get('register-with-taints') ?? ''),
    capacity: formatResources(capacity),
    allocatable: formatResources(allocatableOf(capacity, flags)),
    // The control plane's version may have a build suffix, which kubelets do not report.
    kubeletVersion: `v${kubernetesVersion.replace(/[-+].*$/, '')}`,
    ...(vm.privateIPAddress !== undefined && { address: vm.privateIPAddress }),
    osImage: OS_IMAGES.find(([pattern]) => pattern.test(vm.imageId ?? ''))?.[1] ?? 'Linux',
  };
}

/** Returns the kubelet of a VM; undefined if it never joins. */
export function bootedKubelet(vm: LocalVirtualMachine): StartedKubelet | undefined {
  const kubelet = kubeletOf(vm);
  return 'problem' in kubelet ? undefined : kubelet;
}

/** Returns why the VM will never join; undefined if it will. */
export function bootProblem(vm: LocalVirtualMachine): string | undefined {
  const kubelet = kubeletOf(vm);
  return 'problem' in kubelet ? kubelet.problem : undefined;
}

function kubeletOf(vm: LocalVirtualMachine): ReturnType<typeof readStartScript> {
  const script = Buffer.from(vm.customData ?? '', 'base64').toString('utf8');
  const { location, resourceGroup, architecture, apiServerNames } = vm;
  const subscriptionId = vm.id.split('/')[2] ?? '';
  return readStartScript(script, { location, resourceGroup, architecture, subscriptionId, apiServerNames });
}

/** Parses a list of taints: `key=value:effect,key:effect`. */
function readTaints(text: string): BootedInstance['taints'] {
  return text
    .split(',')
    .filter((taint) => taint !== '')
    .map(readTaint);
}

/** Parses a taint: `key=value:effect` or `key:effect`. */
export function readTaint(text: string): BootedInstance['taints'][number] {
  const [, key = '', value = '', effect = ''] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
  return { key, ...(value !== '' && { value }), effect: effect as BootedInstance['taints'][number]['effect'] };
}

/** Returns the labels that the kubelet and the cloud's node controller add. */
function cloudLabels(vm: LocalVirtualMachine): Readonly<Record<string, string>> {
  const { architecture } = vm;
  const zone = vm.zone === undefined ? '0' : `${vm.location}-${vm.zone}`;
  return {
    [Labels.hostname]: vm.computerName.toLowerCase(),
    [Labels.os]: 'linux',
    'beta.kubernetes.io/os': 'linux',
    [Labels.arch]: architecture,
    'beta.kubernetes.io/arch': architecture,
    [Labels.instanceType]: vm.size,
    'beta.kubernetes.io/instance-type': vm.size,
    [Labels.zone]: zone,
    'failure-domain.beta.kubernetes.io/zone': zone,
    [Labels.region]: vm.location,
    'failure-domain.beta.kubernetes.io/region': vm.location,
    [Labels.diskZone]: vm.zone === undefined ? '' : zone,
  };
}

function capacityOf(vm: LocalVirtualMachine, maxPods: string): Resources {
  const kibibytes = (bytes: number): Quantity => Quantity.fromValue(Math.floor(bytes / KIBI) * KIBI, 'BinarySI');
  return {
    cpu: Quantity.fromValue(vm.vCPUs),
    memory: kibibytes(vm.memoryGiB * GIBI * MEMORY_SHARE - FIRMWARE_BYTES),
    'ephemeral-storage': kibibytes(vm.osDiskSizeGB * GIBI * DISK_SHARE),
    pods: Quantity.parse(maxPods),
    'hugepages-1Gi': Quantity.zero,
    'hugepages-2Mi': Quantity.zero,
    ...gpusOf(vm),
  };
}

/** Returns the GPUs that the manufacturer's device plugin registers. */
function gpusOf({ size, gpus }: LocalVirtualMachine): Resources {
  const manufacturer = gpuSize(size)?.manufacturer;
  if (gpus === 0 || manufacturer === undefined) return {};
  return { [`${manufacturer}.com/gpu`]: Quantity.fromValue(gpus) };
}

/** Computes allocatable resources like the kubelet: capacity minus reservations and hard eviction thresholds. */
function allocatableOf(capacity: Resources, flags: ReadonlyMap<string, string>): Resources {
  let left = capacity;
  for (const flag of ['kube-reserved', 'system-reserved']) {
    left = subtractResources(left, parseResources(readPairs(flags.get(flag) ?? '')));
  }
  const names: Readonly<Record<string, string>> = {
    'memory.available': 'memory',
    'nodefs.available': 'ephemeral-storage',
  };
  for (const threshold of (flags.get('eviction-hard') ?? '').split(',')) {
    const [signal = '', amount = ''] = threshold.split('<');
    const name = names[signal];
    const whole = name === undefined ? undefined : capacity[name];
    if (name === undefined || whole === undefined) continue;
    left = subtractResources(left, { [name]: thresholdOf(amount, whole) });
  }
  return left;
}

function thresholdOf(amount: string, whole: Quantity): Quantity {
  const percent = /^(\d+)%$/.exec(amount)?.[1];
  if (percent === undefined) return Quantity.parse(amount);
  return Quantity.fromValue(Math.floor((whole.value() * Number(percent)) / 100), whole.format);
}
