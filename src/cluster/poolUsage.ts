import { Quantity } from '../units/quantity.ts';
import { addResources, isZeroResources, noResources, subtractResources, type Resources } from '../units/resources.ts';

interface Share {
  readonly pool: string;
  readonly capacity: Resources;
  readonly resources: Resources;
}

const ONE_NODE: Resources = { nodes: Quantity.fromValue(1) };

/** Total of the nodes of each NodePool, `nodes` included; updated per node, never summed again. */
export class PoolUsage {
  private readonly shares = new Map<string, Share>();
  private readonly totals = new Map<string, Resources>();

  /** Counts the node for the pool from now on, replacing what it counted for before. */
  set(node: string, pool: string, capacity: Resources): void {
    const known = this.shares.get(node);
    if (known?.pool === pool && known.capacity === capacity) return;
    this.remove(node);
    const resources = addResources(capacity, ONE_NODE);
    this.shares.set(node, { pool, capacity, resources });
    this.totals.set(pool, addResources(this.of(pool), resources));
  }

  remove(node: string): void {
    const share = this.shares.get(node);
    if (share === undefined) return;
    this.shares.delete(node);
    const rest = subtractResources(this.of(share.pool), share.resources);
    if (isZeroResources(rest)) this.totals.delete(share.pool);
    else this.totals.set(share.pool, rest);
  }

  of(pool: string): Resources {
    return this.totals.get(pool) ?? noResources;
  }
}
