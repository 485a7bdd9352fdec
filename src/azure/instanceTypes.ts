/**
 * Instance types of a node class, built from SKUs, prices, quota and unavailable offerings. Cached per kind of class
 * until an input changes.
 */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { instanceTypeOf } from '../catalogue/instanceTypeOf.ts';
import { machineShape, suitsClass, type ClusterSettings } from '../catalogue/nodeSettings.ts';
import { LEARNED_RESOURCES, type LearnedAllocatable } from '../catalogue/learnedAllocatable.ts';
import { reservedOfferings } from '../catalogue/reservedOfferings.ts';
import { Offerings } from '../catalogue/offerings.ts';
import { allocatableOf, type MachineShape } from '../catalogue/overhead.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { noMetrics, type Gauge, type MetricsRegistry } from '../kube/metrics.ts';
import { quantityOf, type Resources } from '../units/resources.ts';
import { selectImage, type NodeImage } from './images.ts';
import type { Prices } from './prices.ts';
import type { Quota } from './quota.ts';
import type { Reservations } from './reservations.ts';
import type { Skus } from './skus.ts';
import type { UnavailableOfferings } from './unavailableOfferings.ts';

export interface InstanceTypesOptions extends ClusterSettings {
  readonly skus: Skus;
  readonly prices: Prices;
  readonly unavailable: UnavailableOfferings;
  readonly quota: Quota;
  readonly learned: LearnedAllocatable;
  /** Absent where VMs cannot use reservations. */
  readonly reservations?: Reservations | undefined;
  readonly metrics?: MetricsRegistry;
}

/** Limit on cached kinds; classes differ in few ways. */
const MAX_KEPT = 64;

export class InstanceTypes {
  private readonly options: InstanceTypesOptions;
  private readonly offerings: Offerings;
  private readonly gauge: Gauge;
  private readonly kept = new Map<string, { readonly types: readonly InstanceType[]; readonly madeFrom: string }>();

  constructor(options: InstanceTypesOptions) {
    this.options = options;
    this.offerings = new Offerings(options);
    this.gauge = (options.metrics ?? noMetrics).gauge({
      name: 'nodewright_instance_type_allocatable',
      help: 'Allocatable resources of an instance type that was learned from nodes: estimated, and real.',
      labels: ['instance_type', 'resource', 'source'],
    });
  }

  /** Every type that the class can use, including unavailable ones, sorted by name. */
  list(nodeClass: AksNodeClass): readonly InstanceType[] {
    const { skus, prices, unavailable, quota, learned, reservations } = this.options;
    const madeFrom = [
      skus.generation,
      prices.generation,
      unavailable.sequence,
      quota.generation,
      learned.generation,
      reservations?.generation ?? 0,
    ].join('/');
    const key = `${skus.generation} ${classKey(nodeClass)}`;
    const known = this.kept.get(key);
    if (known?.madeFrom === madeFrom) return known.types;
    const images = nodeClass.status?.images ?? [];
    const before = new Map(known?.types.map((type) => [type.name, type]));
    const types = skus
      .all()
      .filter((sku) => suitsClass(sku, nodeClass))
      .flatMap((sku) => this.build(sku, nodeClass, images, before.get(sku.name)));
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    this.kept.set(key, { types, madeFrom });
    return types;
  }

  shapeOf(sku: Sku, nodeClass: AksNodeClass): MachineShape {
    return machineShape(sku, nodeClass, this.options);
  }

  /**
   * A type with unchanged offerings and resources stays the same object, so that caches by identity keep working. Types
   * that no image of the class can boot are left out: they could never be launched.
   */
  private build(
    sku: Sku,
    nodeClass: AksNodeClass,
    images: readonly NodeImage[],
    before: InstanceType | undefined,
  ): readonly InstanceType[] {
    const offerings = this.offeringsOf(sku);
    const kept = before !== undefined && sameOfferings(before.offerings, offerings) ? before : undefined;
    const type = kept ?? instanceTypeOf(sku, nodeClass, this.options, offerings);
    const image = selectImage(images, type);
    if (image === undefined) return images.length === 0 ? [type] : [];
    const real = this.learnedRoom(sku, nodeClass, image);
    if (real === undefined || sameRoom(real, type.allocatable)) return [type];
    return [{ ...type, allocatable: { ...type.allocatable, ...real } }];
  }

  private offeringsOf(sku: Sku): readonly Offering[] {
    const { reservations, prices, location } = this.options;
    const reserved = reservations?.of(sku.name) ?? [];
    if (reserved.length === 0) return this.offerings.of(sku);
    return [...reservedOfferings(sku, location, prices.onDemand(sku.name), reserved), ...this.offerings.of(sku)];
  }

  /** The measured resources of nodes of this build, once any has joined. */
  private learnedRoom(sku: Sku, nodeClass: AksNodeClass, image: NodeImage): Resources | undefined {
    const { maxPods, osDiskSizeGB } = this.shapeOf(sku, nodeClass);
    const build = { instanceType: sku.name, imageId: image.id, maxPods, osDiskBytes: osDiskSizeGB * 1e9 };
    const real = this.options.learned.find(build);
    if (real === undefined) return undefined;
    const estimate = allocatableOf(this.shapeOf(sku, nodeClass));
    for (const resource of LEARNED_RESOURCES) {
      const labels = { instance_type: sku.name, resource };
      this.gauge.set({ ...labels, source: 'estimate' }, quantityOf(estimate, resource).value());
      this.gauge.set({ ...labels, source: 'learned' }, quantityOf(real, resource).value());
    }
    return real;
  }
}

function sameRoom(real: Resources, allocatable: Resources): boolean {
  return LEARNED_RESOURCES.every((name) => quantityOf(real, name).compare(quantityOf(allocatable, name)) === 0);
}

/** The order of a size's offerings is fixed. */
function sameOfferings(left: readonly Offering[], right: readonly Offering[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ price, available, reservationId, reservationCapacity }, index) => {
      const other = right[index];
      return (
        price === other?.price &&
        available === other.available &&
        reservationId === other.reservationId &&
        reservationCapacity === other.reservationCapacity
      );
    })
  );
}

/** All fields of a class that affect its instance types. */
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
    status?.images,
  ]);
}
