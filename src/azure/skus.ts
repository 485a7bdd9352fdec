/**
 * The sizes that this subscription can use in this location. In: the resource SKUs of Azure. Out: those that can be a
 * node of AKS, by name; refreshed now and then, and kept when a refresh fails.
 */
import type { ComputeManagementClient } from '@azure/arm-compute';
import { gpuSize } from './gpuRegistry.ts';
import { readSku, type Sku } from './resourceSku.ts';

/** AKS refuses the first group; the second cannot be told from its twin by price. */
const EXCLUDED_NAMES: ReadonlySet<string> = new Set([
  'Standard_A0',
  'Standard_A1',
  'Standard_A1_v2',
  'Standard_B1s',
  'Standard_B1ms',
  'Standard_F1',
  'Standard_F1s',
  'Basic_A0',
  'Basic_A1',
  'Basic_A2',
  'Basic_A3',
  'Basic_A4',
  'Standard_E64i_v3',
  'Standard_E64is_v3',
]);
const MIN_CPUS = 2;
const MIN_MEMORY_GIB = 3.5;

export class Skus {
  private readonly compute: ComputeManagementClient;
  private readonly location: string;
  private known: ReadonlyMap<string, Sku> = new Map();
  private generationNumber = 0;

  constructor(compute: ComputeManagementClient, location: string) {
    this.compute = compute;
    this.location = location;
  }

  /** Grows whenever `all` may answer differently. */
  get generation(): number {
    return this.generationNumber;
  }

  all(): readonly Sku[] {
    return [...this.known.values()];
  }

  find(name: string): Sku | undefined {
    return this.known.get(name);
  }

  /** Throws when Azure lists nothing usable; what was known stays known. */
  async refresh(signal?: AbortSignal): Promise<void> {
    const found: Sku[] = [];
    const pages = this.compute.resourceSkus.list({
      filter: `location eq '${this.location}'`,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    for await (const raw of pages) {
      const sku = readSku(raw, this.location);
      if (sku !== undefined && isNodeSize(sku)) found.push(sku);
    }
    if (found.length === 0) throw new Error(`Azure lists no machine size for AKS nodes in ${this.location}.`);
    found.sort((left, right) => (left.name < right.name ? -1 : 1));
    const known = new Map(found.map((sku) => [sku.name, sku]));
    if (fingerprint(known) !== fingerprint(this.known)) this.generationNumber += 1;
    this.known = known;
  }
}

/** What no node can be made of, whatever its class says. */
export function isNodeSize(sku: Sku): boolean {
  const confidential = /^(DC|EC)/.test(`${sku.size.family}${sku.size.subfamily}`);
  return (
    !EXCLUDED_NAMES.has(sku.name) &&
    !sku.restricted &&
    sku.cpus >= MIN_CPUS &&
    sku.memoryGiB >= MIN_MEMORY_GIB &&
    (sku.gpus === 0 || gpuSize(sku.name) !== undefined) &&
    sku.size.constrainedCpus === undefined &&
    !confidential
  );
}

function fingerprint(skus: ReadonlyMap<string, Sku>): string {
  return JSON.stringify([...skus.values()].map((sku) => ({ ...sku, ultraSsdZones: [...sku.ultraSsdZones] })));
}
