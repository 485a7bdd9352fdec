/** Creates an instance type from an Azure SKU for a node class, with every well-known label defined. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { Labels } from '../api/labels.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { gpuSize } from './gpuRegistry.ts';
import { clusterLabel, machineShape, type ClusterSettings } from './nodeSettings.ts';
import { allocatableOf, capacityOf } from './overhead.ts';
import type { Sku } from './resourceSku.ts';

/** Limit on cached label sets: thousands of instance types share few. */
const MAX_KNOWN = 1024;
/** Without a cluster, the value of this label is unknown. */
const ANY_CLUSTER = Requirement.of(Labels.aksCluster, 'Exists');
const MODES = Requirement.of(Labels.aksMode, 'In', ['system', 'user']);
const absent = new Map<string, Requirement>();
const generations = new Map<string, Requirement>();
const soldAs = new Map<string, readonly Requirement[]>();
const numbers = new WeakMap<Requirements, number>();
let numbered = 0;

export function instanceTypeOf(
  sku: Sku,
  nodeClass: AksNodeClass,
  settings: ClusterSettings,
  offerings: readonly Offering[],
): InstanceType {
  const shape = machineShape(sku, nodeClass, settings);
  const capacity = capacityOf(shape);
  return {
    name: sku.name,
    requirements: requirementsOf(sku, nodeClass, settings, offerings),
    offerings,
    capacity,
    allocatable: allocatableOf(shape, capacity),
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
    oneOf(Labels.skuGpuName, gpu === undefined || isUnnamed(sku) ? undefined : sku.size.accelerator),
    hyperVGenerations(sku.hyperVGenerations),

    oneOf(Labels.aksCpu, String(sku.cpus)),
    oneOf(Labels.aksMemory, memory),
    nodeResourceGroup === undefined ? ANY_CLUSTER : oneOf(Labels.aksCluster, clusterLabel(nodeResourceGroup)),
    MODES,
    oneOf(Labels.aksOsSku, nodeClass.spec?.imageFamily === 'AzureLinux' ? 'AzureLinux' : 'Ubuntu'),
    oneOf(Labels.aksFipsEnabled, nodeClass.spec?.fipsMode === 'FIPS' ? 'true' : undefined),
  );
}

/** AKS sets no GPU name label on nodes with this GPU. */
function isUnnamed({ size }: Sku): boolean {
  return size.accelerator === 'MI300X';
}

/** A label with one value, or one that is absent on nodes of this type. */
function oneOf(key: string, value: string | undefined): Requirement {
  if (value !== undefined) return Requirement.single(key, value);
  return remembered(absent, key, () => Requirement.of(key, 'DoesNotExist'));
}

function hyperVGenerations(values: readonly string[]): Requirement {
  return remembered(generations, values.join(), () => Requirement.of(Labels.skuHyperVGeneration, 'In', values));
}

function remembered<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) {
    if (known.size >= MAX_KNOWN) known.clear();
    value = make();
    known.set(key, value);
  }
  return value;
}

/** Labels determined by where and how an instance is bought. */
export const OFFERING_LABELS: readonly string[] = [
  Labels.zone,
  Labels.capacityType,
  Labels.placementScope,
  Labels.skuUltraSsd,
  Labels.aksScaleSetPriority,
  Labels.aksPriority,
];

/** AKS's names for the capacity type: a type has both, whatever is available now. */
const PRIORITIES: ReadonlyMap<string, Requirement> = new Map(
  [Labels.aksScaleSetPriority, Labels.aksPriority].map((label) => [
    label,
    Requirement.of(label, 'In', ['regular', 'spot']),
  ]),
);

/** The union over available offerings. */
export function offeringLabels(available: readonly Offering[]): readonly Requirement[] {
  let key = '';
  for (const { requirements } of available) key += `${numberOf(requirements)},`;
  return remembered(soldAs, key, () =>
    OFFERING_LABELS.map((label) => {
      const fixed = PRIORITIES.get(label);
      if (fixed !== undefined) return fixed;
      const values = new Set(available.flatMap(({ requirements }) => [...requirements.get(label).values]));
      return Requirement.of(label, 'In', [...values]);
    }),
  );
}

/** Offerings share requirement objects, so these are numbered by identity. */
function numberOf(requirements: Requirements): number {
  let number = numbers.get(requirements);
  if (number === undefined) {
    number = ++numbered;
    numbers.set(requirements, number);
  }
  return number;
}
