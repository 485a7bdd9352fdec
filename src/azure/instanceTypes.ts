/**
 * Instance types of a node class, made from SKUs, prices, quota and what is unavailable. Built once per kind of class
 * and kept until something that they are made of changes.
 */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { instanceTypeOf } from '../catalogue/instanceTypeOf.ts';
import { machineShape, suitsClass, type ClusterSettings } from '../catalogue/nodeSettings.ts';
import { Offerings } from '../catalogue/offerings.ts';
import type { MachineShape } from '../catalogue/overhead.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { selectImage } from './images.ts';
import type { Prices } from './prices.ts';
import type { Quota } from './quota.ts';
import type { Skus } from './skus.ts';
import type { UnavailableOfferings } from './unavailableOfferings.ts';

export interface InstanceTypesOptions extends ClusterSettings {
  readonly skus: Skus;
  readonly prices: Prices;
  readonly unavailable: UnavailableOfferings;
  readonly quota: Quota;
}

/** Classes differ in few ways; more kinds than this at once are not kept. */
const MAX_KEPT = 64;

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
    const images = nodeClass.status?.images ?? [];
    const before = new Map(known?.types.map((type) => [type.name, type]));
    const types = skus
      .all()
      .filter((sku) => suitsClass(sku, nodeClass))
      .map((sku) => this.build(sku, nodeClass, before.get(sku.name)))
      // A type that no image of the class boots could be planned, and never launched.
      .filter((type) => images.length === 0 || selectImage(images, type) !== undefined);
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    this.kept.set(key, { types, madeFrom });
    return types;
  }

  shapeOf(sku: Sku, nodeClass: AksNodeClass): MachineShape {
    return machineShape(sku, nodeClass, this.options);
  }

  /** A type whose offerings did not change stays the same object, so that values derived from it stay valid. */
  private build(sku: Sku, nodeClass: AksNodeClass, before: InstanceType | undefined): InstanceType {
    const offerings = this.offerings.of(sku);
    if (before !== undefined && sameOfferings(before.offerings, offerings)) return before;
    return instanceTypeOf(sku, nodeClass, this.options, offerings);
  }
}

/** One size's offerings always come in the same order. */
function sameOfferings(left: readonly Offering[], right: readonly Offering[]): boolean {
  return left.every(({ price, available }, index) => {
    const other = right[index];
    return other !== undefined && price === other.price && available === other.available;
  });
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
    status?.images?.map(({ requirements }) => requirements),
  ]);
}
