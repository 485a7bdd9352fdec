import type { Resources } from '../units/resources.ts';
import type { NodeView } from './nodeView.ts';
import { PoolUsage } from './poolUsage.ts';
import { SortedValues } from './sortedValues.ts';

/**
 * The views of all nodes, sorted by name, and their totals per pool. A view is recreated only after `touch` with its
 * key, so reading costs time in proportion to what was touched since the last read.
 */
export class NodeViews {
  private readonly make: (key: string) => NodeView | undefined;
  private readonly views = new Map<string, NodeView>();
  private readonly sorted = new SortedValues<NodeView>();
  private readonly usage = new PoolUsage();
  private readonly touched = new Set<string>();

  /** `make` returns the current view of a key; undefined when there is none. */
  constructor(make: (key: string) => NodeView | undefined) {
    this.make = make;
  }

  touch(key: string): void {
    this.touched.add(key);
  }

  get(key: string): NodeView | undefined {
    this.refresh();
    return this.views.get(key);
  }

  inOrder(): readonly NodeView[] {
    this.refresh();
    return this.sorted.values();
  }

  usageOf(pool: string): Resources {
    this.refresh();
    return this.usage.of(pool);
  }

  private refresh(): void {
    if (this.touched.size === 0) return;
    for (const key of this.touched) this.renew(key);
    this.touched.clear();
  }

  private renew(key: string): void {
    const known = this.views.get(key);
    const view = this.make(key);
    if (known !== undefined && known.name !== view?.name) this.sorted.delete(placeOf(known, key));
    if (view === undefined) this.views.delete(key);
    else {
      this.views.set(key, view);
      this.sorted.set(placeOf(view, key), view);
    }
    if (view?.nodePool === undefined || view.deleting) this.usage.remove(key);
    else this.usage.set(key, view.nodePool, view.capacity);
  }
}

/** Names may be temporarily shared: a Node without a claim may be named like a claim that still waits for its Node. */
const placeOf = ({ name }: NodeView, key: string): string => `${name} ${key}`;
