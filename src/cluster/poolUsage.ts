import { Quantity } from '../units/quantity.ts';
import { addResources, isZeroResources, noResources, subtractResources, type Resources } from '../units/resources.ts';

interface Share {
  readonly pool: string;
  readonly resources: Resources;
}

const ONE_NODE: Resources = { nodes: Quantity.fromValue(1) };

/** What the machines of each NodePool add up to, `nodes` included; kept as machines change, not counted anew. */
export class PoolUsage {
  private readonly shares = new Map<string, Share>();
  private readonly totals = new Map<string, Resources>();

  /** The machine counts for the pool from now on, instead of what it counted for before. */
  set(machine: string, pool: string, capacity: Resources): void {
    this.remove(machine);
    const resources = addResources(capacity, ONE_NODE);
    this.shares.set(machine, { pool, resources });
    this.totals.set(pool, addResources(this.of(pool), resources));
  }

  remove(machine: string): void {
    const share = this.shares.get(machine);
    if (share === undefined) return;
    this.shares.delete(machine);
    const rest = subtractResources(this.of(share.pool), share.resources);
    if (isZeroResources(rest)) this.totals.delete(share.pool);
    else this.totals.set(share.pool, rest);
  }

  of(pool: string): Resources {
    return this.totals.get(pool) ?? noResources;
  }
}
