/** Makes an instance type of an Azure SKU for a node class, with every well-known label defined. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { Labels } from '../api/labels.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { gpuSize } from './gpuRegistry.ts';
import { clusterLabel, machineShape, type ClusterSettings } from './nodeSettings.ts';
import { allocatableOf, capacityOf } from './overhead.ts';
import type { Sku } from './resourceSku.ts';

export function instanceTypeOf(
  sku: Sku,
  nodeClass: AksNodeClass,
  settings: ClusterSettings,
  offerings: readonly Offering[],
): InstanceType {
  const shape = machineShape(sku, nodeClass, settings);
  return {
    name: sku.name,
    requirements: requirementsOf(sku, nodeClass, settings, offerings),
    offerings,
    capacity: capacityOf(shape),
    allocatable: allocatableOf(shape),
  };
}

function requirementsOf(
  sku: Sku,
  nodeClass: AksNodeClass,
  { location, nodeResourceGroup }: ClusterSettings,
  offerings: readonly Offering[],
): Requirements {
  const gpu = gpuSize(sku.name);
  const memory = String(Math.trunc(sku.memoryGiB * 1024));
  const ephemeral = sku.ephemeralDisk?.sizeGB;
  return Requirements.of(
    oneOf(Labels.instanceType, sku.name),
    oneOf(Labels.arch, sku.architecture),
    oneOf(Labels.os, 'linux'),
    oneOf(Labels.region, location.toLowerCase()),
    oneOf(Labels.windowsBuild, undefined),
    ...offeringLabels(offerings.filter((offering) => offering.available)),

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

/** A label with one value, or one that nodes of this type never have. */
function oneOf(key: string, value: string | undefined): Requirement {
  return value === undefined ? Requirement.of(key, 'DoesNotExist') : Requirement.single(key, value);
}

/** Labels that follow from where and how an instance is bought. */
export const OFFERING_LABELS: readonly string[] = [
  Labels.zone,
  Labels.capacityType,
  Labels.placementScope,
  Labels.skuUltraSsd,
  Labels.aksScaleSetPriority,
  Labels.aksPriority,
];

/** The union over what can be bought now. */
export function offeringLabels(available: readonly Offering[]): readonly Requirement[] {
  return OFFERING_LABELS.map((key) => {
    const values = new Set(available.flatMap((offering) => [...offering.requirements.get(key).values]));
    return Requirement.of(key, 'In', [...values]);
  });
}
