/**
 * Sizes as the scheduler sees them. In: SKUs, prices, what is unavailable, and a node class. Out: instance types with
 * every well-known label defined; built once per kind of class and kept until something they are made of changes.
 */
import { Labels } from '../api/labels.ts';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { trustedLaunchEnabled } from './classSettings.ts';
import { gpuSize, imageFamilyDrives } from './gpuRegistry.ts';
import { Offerings, type OfferingSources } from './offerings.ts';
import { allocatableOf, capacityOf, type MachineShape } from './overhead.ts';
import type { Sku } from './resourceSku.ts';
import type { Skus } from './skus.ts';

export interface ClusterNetworking {
  readonly networkPlugin: 'azure' | 'none';
  readonly networkPluginMode: 'overlay' | '';
}

export interface InstanceTypesOptions extends OfferingSources {
  readonly skus: Skus;
  readonly networking: ClusterNetworking;
  readonly nodeResourceGroup: string;
  readonly memoryOverheadPercent: number;
}

const DEFAULT_OS_DISK_GB = 128;
/** Classes differ in few ways; more kinds than this at once are not kept. */
const MAX_KEPT = 64;
const LOCAL_DNS_MIN_CPUS = 4;
const LOCAL_DNS_MIN_MEMORY_MIB = 244;

export class InstanceTypes {
  private readonly options: InstanceTypesOptions;
  private readonly offerings: Offerings;
  private readonly kept = new Map<string, { readonly types: readonly InstanceType[]; readonly madeFrom: string }>();

  constructor(options: InstanceTypesOptions) {
    this.options = options;
    this.offerings = new Offerings(options);
  }

  /** Every type that the class can use, the unavailable ones too, in order of name. */
  list(nodeClass: AksNodeClass): readonly InstanceType[] {
    const { skus, prices, unavailable, quota } = this.options;
    const madeFrom = `${skus.generation}/${prices.generation}/${unavailable.sequence}/${quota.generation}`;
    const key = `${skus.generation} ${classKey(nodeClass)}`;
    const known = this.kept.get(key);
    if (known?.madeFrom === madeFrom) return known.types;
    const before = new Map(known?.types.map((type) => [type.name, type]));
    const types = skus
      .all()
      .filter((sku) => suits(sku, nodeClass))
      .map((sku) => this.build(sku, nodeClass, before.get(sku.name)));
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    this.kept.set(key, { types, madeFrom });
    return types;
  }

  shapeOf(sku: Sku, nodeClass: AksNodeClass): MachineShape {
    return {
      cpus: sku.cpus,
      memoryGiB: sku.memoryGiB,
      osDiskSizeGB: nodeClass.spec?.osDiskSizeGB ?? DEFAULT_OS_DISK_GB,
      maxPods: nodeClass.spec?.maxPods ?? defaultMaxPods(this.options.networking),
      gpus: sku.gpus,
      gpuManufacturer: gpuSize(sku.name)?.manufacturer,
      memoryOverheadPercent: this.options.memoryOverheadPercent,
    };
  }

  /** A type whose offerings did not change stays the same object, so that whoever derived something can keep it. */
  private build(sku: Sku, nodeClass: AksNodeClass, before: InstanceType | undefined): InstanceType {
    const offerings = this.offerings.of(sku);
    if (before !== undefined && sameOfferings(before.offerings, offerings)) return before;
    const shape = this.shapeOf(sku, nodeClass);
    return {
      name: sku.name,
      requirements: this.requirementsOf(sku, nodeClass, offerings),
      offerings,
      capacity: capacityOf(shape),
      allocatable: allocatableOf(shape),
    };
  }

  private requirementsOf(sku: Sku, nodeClass: AksNodeClass, offerings: readonly Offering[]): Requirements {
    const { location, nodeResourceGroup } = this.options;
    const gpu = gpuSize(sku.name);
    const memory = String(Math.trunc(sku.memoryGiB * 1024));
    const ephemeral = sku.ephemeralDisk?.sizeGB;
    const available = offerings.filter((offering) => offering.available);
    return Requirements.of(
      oneOf(Labels.instanceType, sku.name),
      oneOf(Labels.arch, sku.architecture),
      oneOf(Labels.os, 'linux'),
      oneOf(Labels.region, location.toLowerCase()),
      oneOf(Labels.windowsBuild, undefined),
      ...fromOfferings(available),

      oneOf(Labels.skuName, sku.name),
      oneOf(Labels.skuFamily, sku.size.family),
      oneOf(Labels.skuSeries, sku.size.series),
      oneOf(Labels.skuVersion, sku.size.version),
      oneOf(Labels.skuCpu, String(sku.cpus)),
      oneOf(Labels.skuMemory, memory),
      oneOf(Labels.skuAcceleratedNetworking, String(sku.acceleratedNetworking)),
      oneOf(Labels.skuPremiumStorage, String(sku.premiumStorage)),
      oneOf(Labels.skuEphemeralOsMaxSize, ephemeral === undefined ? undefined : String(ephemeral)),
      oneOf(Labels.skuGpuCount, String(gpu === undefined ? 0 : sku.gpus)),
      oneOf(Labels.skuGpuManufacturer, gpu?.manufacturer),
      oneOf(Labels.skuGpuName, gpu === undefined ? undefined : sku.size.accelerator),
      Requirement.of(Labels.skuHyperVGeneration, 'In', sku.hyperVGenerations),

      oneOf(Labels.aksCpu, String(sku.cpus)),
      oneOf(Labels.aksMemory, memory),
      oneOf(Labels.aksCluster, clusterLabel(nodeResourceGroup)),
      Requirement.of(Labels.aksMode, 'In', ['system', 'user']),
      oneOf(Labels.aksOsSku, nodeClass.spec?.imageFamily === 'AzureLinux' ? 'AzureLinux' : 'Ubuntu'),
      oneOf(Labels.aksFipsEnabled, nodeClass.spec?.fipsMode === 'FIPS' ? 'true' : undefined),
    );
  }
}

/** A label with one value, or one that nodes of this type never have. */
function oneOf(key: string, value: string | undefined): Requirement {
  return value === undefined ? Requirement.of(key, 'DoesNotExist') : Requirement.of(key, 'In', [value]);
}

const OFFERING_LABELS = [
  Labels.zone,
  Labels.capacityType,
  Labels.placementScope,
  Labels.skuUltraSsd,
  Labels.aksScaleSetPriority,
  Labels.aksPriority,
] as const;

/** The union over what can be bought now. */
function fromOfferings(available: readonly Offering[]): readonly Requirement[] {
  return OFFERING_LABELS.map((key) => {
    const values = new Set(available.flatMap((offering) => [...offering.requirements.get(key).values]));
    return Requirement.of(key, 'In', [...values]);
  });
}

/** One size's offerings always come in the same order. */
function sameOfferings(left: readonly Offering[], right: readonly Offering[]): boolean {
  return left.every(({ price, available }, index) => {
    const other = right[index];
    return other !== undefined && price === other.price && available === other.available;
  });
}

/** Whether machines of this size can be built as the class says. */
function suits(sku: Sku, nodeClass: AksNodeClass): boolean {
  const { spec, status } = nodeClass;
  const gpu = gpuSize(sku.name);
  if (sku.architecture === undefined) return false;
  if (gpu !== undefined && !imageFamilyDrives(spec?.imageFamily, gpu)) return false;
  // Drivers are installed for NVIDIA only; the others need a class that installs none.
  if (gpu?.manufacturer === 'amd' && spec?.gpu?.mode !== 'None') return false;
  if (spec?.security?.encryptionAtHost === true && !sku.encryptionAtHost) return false;
  if (trustedLaunchEnabled(nodeClass) && !sku.trustedLaunch) return false;
  if (spec?.artifactStreaming?.enabled === true && sku.architecture === 'arm64') return false;
  if (status?.localDNSState !== 'Enabled') return true;
  return sku.cpus >= LOCAL_DNS_MIN_CPUS && sku.memoryGiB * 1024 >= LOCAL_DNS_MIN_MEMORY_MIB;
}

/** Everything of a class that its instance types depend on. */
function classKey({ spec, status }: AksNodeClass): string {
  return JSON.stringify([
    spec?.imageFamily,
    spec?.osDiskSizeGB,
    spec?.maxPods,
    spec?.security?.encryptionAtHost,
    spec?.security?.trustedLaunch,
    spec?.gpu?.mode,
    spec?.artifactStreaming?.enabled,
    spec?.fipsMode,
    status?.localDNSState,
  ]);
}

/** How many pods the network plugin can serve on a node. */
function defaultMaxPods({ networkPlugin, networkPluginMode }: ClusterNetworking): number {
  if (networkPlugin === 'none' || networkPluginMode === 'overlay') return 250;
  return 30;
}

/** The node resource group's name made fit for a label value, as AKS does it. */
export function clusterLabel(nodeResourceGroup: string): string {
  const cut = nodeResourceGroup.replace(/[()]/g, '-').slice(0, 63);
  if (!/[-_.]$/.test(cut)) return cut;
  return cut.length === 63 ? `${cut.slice(0, 62)}z` : `${cut}z`;
}
