/**
 * The SKUs of this subscription and location that can be AKS nodes, by name. When a refresh fails, the previous ones
 * are kept.
 */
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { ComputeManagementClient } from '@azure/arm-compute';
import { isNodeSize } from '../catalogue/nodeSize.ts';
import { readSku, type Sku } from '../catalogue/resourceSku.ts';

export class Skus {
  private readonly compute: ComputeManagementClient;
  private readonly location: string;
  private known: ReadonlyMap<string, Sku> = new Map();
  private generationNumber = 0;

  constructor(compute: ComputeManagementClient, location: string) {
    this.compute = compute;
    this.location = location;
  }

  /** Increases whenever `all` may change. */
  get generation(): number {
    return this.generationNumber;
  }

  all(): readonly Sku[] {
    return [...this.known.values()];
  }

  find(name: string): Sku | undefined {
    return this.known.get(name);
  }

  /** Throws when Azure lists nothing usable; the previous SKUs are kept. */
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
    if (found.length === 0)
      throw new NodewrightError('AzureAnswerUnusable', {
        source: 'Resource SKUs',
        problem: `it lists no VM size for AKS nodes in ${this.location}`,
      });
    found.sort((left, right) => (left.name < right.name ? -1 : 1));
    const known = new Map(found.map((sku) => [sku.name, sku]));
    if (fingerprint(known) !== fingerprint(this.known)) this.generationNumber += 1;
    this.known = known;
  }
}

function fingerprint(skus: ReadonlyMap<string, Sku>): string {
  return JSON.stringify([...skus.values()].map((sku) => ({ ...sku, ultraSsdZones: [...sku.ultraSsdZones] })));
}
