/** Settings of a cluster and a node class that affect their nodes. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { gpuSize, imageFamilyDrives } from './gpuRegistry.ts';
import type { MachineShape } from './overhead.ts';
import type { Sku } from './resourceSku.ts';

export interface ClusterNetworking {
  readonly networkPlugin: 'azure' | 'none';
  readonly networkPluginMode: 'overlay' | '';
}

export interface ClusterSettings {
  /** `eastus`. */
  readonly location: string;
  readonly networking: ClusterNetworking;
  /** Undefined without a cluster: the value of its label is then open. */
  readonly nodeResourceGroup: string | undefined;
  /** Share of memory used by the hypervisor and the kernel; default 0.075. */
  readonly memoryOverheadPercent: number;
}

const DEFAULT_OS_DISK_GB = 128;
const LOCAL_DNS_MIN_CPUS = 4;
const LOCAL_DNS_MIN_MEMORY_MIB = 244;

export function machineShape(sku: Sku, nodeClass: AksNodeClass, cluster: ClusterSettings): MachineShape {
  return {
    cpus: sku.cpus,
    memoryGiB: sku.memoryGiB,
    osDiskSizeGB: nodeClass.spec?.osDiskSizeGB ?? DEFAULT_OS_DISK_GB,
    maxPods: nodeClass.spec?.maxPods ?? defaultMaxPods(cluster.networking),
    gpus: sku.gpus,
    gpuManufacturer: gpuSize(sku.name)?.manufacturer,
    memoryOverheadPercent: cluster.memoryOverheadPercent,
  };
}

/** Whether instances of this size can be created as the class specifies. */
export function suitsClass(sku: Sku, nodeClass: AksNodeClass): boolean {
  const { spec, status } = nodeClass;
  const gpu = gpuSize(sku.name);
  if (sku.architecture === undefined) return false;
  if (gpu !== undefined && !imageFamilyDrives(spec?.imageFamily, gpu)) return false;
  // Drivers are installed only for NVIDIA; other GPUs need a class without driver installation.
  if (gpu?.manufacturer === 'amd' && spec?.gpu?.mode !== 'None') return false;
  if (spec?.security?.encryptionAtHost === true && !sku.encryptionAtHost) return false;
  if (trustedLaunchEnabled(nodeClass) && !sku.trustedLaunch) return false;
  if (spec?.artifactStreaming?.enabled === true && sku.architecture === 'arm64') return false;
  if (status?.localDNSState !== 'Enabled') return true;
  return sku.cpus >= LOCAL_DNS_MIN_CPUS && sku.memoryGiB * 1024 >= LOCAL_DNS_MIN_MEMORY_MIB;
}

export function trustedLaunchEnabled({ spec }: AksNodeClass): boolean {
  return spec?.security?.trustedLaunch?.vtpm === true || spec?.security?.trustedLaunch?.secureBoot === true;
}

/** How many pods the network plug-in supports per node. */
function defaultMaxPods({ networkPlugin, networkPluginMode }: ClusterNetworking): number {
  if (networkPlugin === 'none' || networkPluginMode === 'overlay') return 250;
  return 30;
}

/** The node resource group's name, converted to a valid label value as AKS does it. */
export function clusterLabel(nodeResourceGroup: string): string {
  const cut = nodeResourceGroup.replace(/[()]/g, '-').slice(0, 63);
  if (!/[-_.]$/.test(cut)) return cut;
  return cut.length === 63 ? `${cut.slice(0, 62)}z` : `${cut}z`;
}
