/**
 * Compiled snapshot: pools, instance types and nodes as numbers, with caches of everything computed so far. Shared by
 * all questions. `advance` carries it to the next snapshot: objects that are identical to before are not compiled
 * again, and answers equal those of a fresh model.
 */
import { podRequests } from '../../pods/podRequests.ts';
import { quantityOf, type Resources } from '../../units/resources.ts';
import type { PoolOffer, Snapshot } from '../problem.ts';
import { compilePool, limitLeft, type CompiledPool } from './compiledPool.ts';
import { ExistingNodes, nodeResources } from './existingNodes.ts';
import { isPreferred } from './nodeKinds.ts';
import { poolParts } from './poolParts.ts';
import { ResourceTable } from './resourceTable.ts';
import { RunningPods } from './runningPods.ts';
import { StateTable } from './stateTable.ts';

/** States and requirement sets kept before a carried model is rebuilt. */
const MAX_STATES = 20_000;
const NO_NAMESPACES = new Map<string, Readonly<Record<string, string>>>();

/** Everything that is derived from a snapshot. */
interface Compiled {
  readonly snapshot: Snapshot;
  readonly table: ResourceTable;
  /** Resources named by instance types and daemons. */
  readonly offered: ReadonlySet<string>;
  /** By pool of the snapshot: its parts. */
  readonly parts: readonly (readonly CompiledPool[])[];
  /** All parts of all pools. */
  readonly pools: readonly CompiledPool[];
  readonly states: StateTable;
  readonly existing: ExistingNodes;
  readonly running: RunningPods;
}

export class Model {
  private compiled: Compiled;

  private constructor(compiled: Compiled) {
    this.compiled = compiled;
  }

  static of(snapshot: Snapshot): Model {
    return new Model(compile(snapshot));
  }

  get snapshot(): Snapshot {
    return this.compiled.snapshot;
  }

  get table(): ResourceTable {
    return this.compiled.table;
  }

  get pools(): readonly CompiledPool[] {
    return this.compiled.pools;
  }

  get states(): StateTable {
    return this.compiled.states;
  }

  get existing(): ExistingNodes {
    return this.compiled.existing;
  }

  get running(): RunningPods {
    return this.compiled.running;
  }

  get hasPreferTaints(): boolean {
    return this.existing.hasPreferTaints || this.pools.some(({ taints }) => taints.some(isPreferred));
  }

  /** By pool: limits left by its existing nodes; undefined for a pool without limits. Shared by the parts of a pool. */
  limitsLeft(): (Float64Array | undefined)[] {
    return this.compiled.parts.flatMap((parts, at) => {
      const [first] = parts;
      const left = first && limitLeft(first, this.snapshot.pools[at]?.used ?? {}, this.snapshot.quotas);
      return parts.map(() => left);
    });
  }

  /** Whether the pool was split into several parts. */
  isPart({ name }: CompiledPool): boolean {
    return this.compiled.parts.some((parts) => parts.length > 1 && parts[0]?.name === name);
  }

  /** Switches to `snapshot` for all further answers. */
  advance(snapshot: Snapshot): void {
    if (snapshot === this.compiled.snapshot) return;
    const before = this.compiled;
    const { existing } = before;
    existing.update(snapshot.nodes);
    const parts = compilePools(snapshot, before.table, before);
    const pools = parts.flat();
    const keepsPools = pools.length === before.pools.length && pools.every((pool, at) => pool === before.pools[at]);
    const offered = keepsPools ? before.offered : offeredNames(snapshot);
    const names = new Set([...offered, ...existing.resources.keys()]);
    const isWorn = existing.isWorn || before.states.size > MAX_STATES;
    if (isWorn || !isSameSet(names, before.table.available)) {
      this.compiled = compile(snapshot);
      return;
    }
    if (!keepsPools) existing.forgetRequirements();
    const states = keepsPools ? before.states : StateTable.of(pools);
    const keepsRunning = keepsPools && before.snapshot.namespaces === snapshot.namespaces;
    const running = keepsRunning ? before.running : runningPods(snapshot, pools.length, existing, states);
    this.compiled = { ...before, snapshot, offered, parts, pools, states, running };
  }
}

function compile(snapshot: Snapshot): Compiled {
  const offered = offeredNames(snapshot);
  const table = ResourceTable.of([...offered, ...nodeResources(snapshot.nodes).keys()]);
  const parts = compilePools(snapshot, table);
  const pools = parts.flat();
  const states = StateTable.of(pools);
  const existing = ExistingNodes.of(snapshot.nodes, table);
  const running = runningPods(snapshot, pools.length, existing, states);
  return { snapshot, table, offered, parts, pools, states, existing, running };
}

function runningPods(
  { namespaces }: Snapshot,
  pools: number,
  existing: ExistingNodes,
  states: StateTable,
): RunningPods {
  return new RunningPods(existing, states, pools, namespaces ?? NO_NAMESPACES);
}

/** By pool its parts, numbered consecutively. */
function compilePools(snapshot: Snapshot, table: ResourceTable, before?: Compiled): (readonly CompiledPool[])[] {
  const hasSameDaemons = before !== undefined && isSameList(before.snapshot.daemons, snapshot.daemons);
  let next = 0;
  return snapshot.pools.map((offer, at) => {
    const known = before?.parts[at];
    const old = before?.snapshot.pools[at];
    const isSame = hasSameDaemons && known?.[0]?.index === next && old !== undefined && isSameOffer(old, offer);
    const first = next;
    const parts = isSame
      ? known
      : poolParts(offer, snapshot.daemons).map((part, each) =>
          compilePool(part, first + each, snapshot.daemons, table),
        );
    next += parts.length;
    return parts;
  });
}

/** A pool's status changes with every node; compare only what affects planning. */
function isSameOffer(before: PoolOffer, now: PoolOffer): boolean {
  if (before.pool !== now.pool) {
    const { metadata, spec } = now.pool;
    if (before.pool.metadata.name !== metadata.name) return false;
    if (before.pool.spec !== spec && JSON.stringify(before.pool.spec) !== JSON.stringify(spec)) return false;
  }
  return isSameList(before.quotas ?? [], now.quotas ?? []) && isSameList(before.instanceTypes, now.instanceTypes);
}

function isSameList<Item>(before: readonly Item[], now: readonly Item[]): boolean {
  return before === now || (before.length === now.length && before.every((item, at) => item === now[at]));
}

/** Resources that instance types or daemons have. */
function offeredNames({ pools, daemons }: Snapshot): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (resources: Resources): void => {
    for (const name in resources) if (!names.has(name) && quantityOf(resources, name).sign() > 0) names.add(name);
  };
  for (const { instanceTypes } of pools) for (const { allocatable } of instanceTypes) add(allocatable);
  for (const daemon of daemons) add(podRequests(daemon));
  return names;
}

const isSameSet = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.size === right.size && [...left].every((name) => right.has(name));
