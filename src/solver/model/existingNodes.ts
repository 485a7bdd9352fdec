/**
 * Existing nodes as rows of numbers. A node keeps its row for life; when its object changes, only its row is rewritten.
 * Rows of removed nodes are reused.
 */
import { Labels, normalizeLabelKey } from '../../api/labels.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import { hasNegative, quantityOf } from '../../units/resources.ts';
import type { ExistingNode } from '../problem.ts';
import { intAt, itemAt } from '../rows.ts';
import { AdmittingNodes, type Admission } from './admittingNodes.ts';
import { ChangeLog } from './changeLog.ts';
import { NodeKinds, type NodeKind } from './nodeKinds.ts';
import type { Toleration } from './podShape.ts';
import type { ResourceTable } from './resourceTable.ts';

/** Placeholder in the row of a removed node: accepts no pod, has none and is in no domain. */
const GONE: ExistingNode = { name: '', labels: {}, taints: [], free: {}, pods: [], initialized: false };
const NO_KIND: NodeKind = { labels: -1, taints: 0, hasPreferTaints: false };
/** Rows are added in blocks, so that parallel tables need not grow with every node. */
const STEP = 64;

export class ExistingNodes {
  /** By row. */
  readonly nodes: ExistingNode[] = [];
  /** By name: the row. */
  readonly indexOf = new Map<string, number>();
  readonly changes = new ChangeLog();
  free: Float64Array;
  /** By row: 1 when the node accepts no pod, because it is overcommitted or gone. */
  closed: Uint8Array;
  /** Rows of current nodes in fill order: initialized first, then by name. */
  order: Int32Array = new Int32Array(0);
  /** By row: its place in the order. */
  rank: Int32Array;
  /** By resource: number of nodes with some of it free. */
  readonly resources = new Map<string, number>();
  private readonly table: ResourceTable;
  private readonly kinds = new NodeKinds();
  private readonly kindOf: NodeKind[] = [];
  private readonly unused: number[] = [];
  private readonly admissions: AdmittingNodes;
  /** Number of nodes with a PreferNoSchedule taint. */
  private preferring = 0;
  /** The list given to the last `update`, and the row of each node. */
  private listed: readonly ExistingNode[] = [];
  private listedRows: Int32Array = new Int32Array(0);

  private constructor(table: ResourceTable) {
    this.table = table;
    this.free = new Float64Array(0);
    this.closed = new Uint8Array(0);
    this.rank = new Int32Array(0);
    this.admissions = new AdmittingNodes(this);
  }

  static of(nodes: readonly ExistingNode[], table: ResourceTable): ExistingNodes {
    const existing = new ExistingNodes(table);
    existing.update(nodes);
    return existing;
  }

  /** Rows, used or free. */
  get rows(): number {
    return this.nodes.length;
  }

  get columns(): number {
    return this.table.size;
  }

  get hasPreferTaints(): boolean {
    return this.preferring > 0;
  }

  /** True when too much is cached about removed nodes. */
  get isWorn(): boolean {
    return this.kinds.size > 4096 + 4 * this.rows;
  }

  /** Applies a new list of nodes. A node that is the same object as before costs one comparison. */
  update(nodes: readonly ExistingNode[]): void {
    if (nodes === this.listed) return;
    const { listed, listedRows, indexOf } = this;
    const rows = new Int32Array(nodes.length);
    const missing: number[] = [];
    const kept = new Uint8Array(this.rows);
    let isReordered = nodes.length !== listed.length;
    let shift = 0;
    nodes.forEach((node, at) => {
      if (listed[at + shift] !== node && listed[at + shift + 1] === node) shift += 1;
      const isSame = listed[at + shift] === node;
      const row = isSame ? listedRows[at + shift] : indexOf.get(node.name);
      if (row === undefined) {
        shift -= 1;
        missing.push(at);
        return;
      }
      rows[at] = row;
      kept[row] = 1;
      if (isSame || this.nodes[row] === node) return;
      isReordered ||= this.nodes[row]?.initialized !== node.initialized;
      this.set(row, node);
    });
    if (nodes.length - missing.length < indexOf.size) {
      isReordered = true;
      for (const [name, row] of indexOf) {
        if (kept[row] === 1) continue;
        indexOf.delete(name);
        this.set(row, GONE);
        this.unused.push(row);
      }
    }
    for (const at of missing) {
      const node = itemAt(nodes, at);
      const row = this.unused.pop() ?? this.addRow();
      indexOf.set(node.name, row);
      rows[at] = row;
      this.set(row, node);
      isReordered = true;
    }
    this.listed = nodes;
    this.listedRows = rows;
    if (isReordered) this.sort();
  }

  label(row: number, key: string): string | undefined {
    const { labels, name } = itemAt(this.nodes, row);
    const own = labels[key] ?? (key === Labels.hostname && name !== '' ? name : undefined);
    if (own !== undefined) return own;
    const old = Object.keys(labels).find((label) => normalizeLabelKey(label) === key);
    return old === undefined ? undefined : labels[old];
  }

  /** `id`: id of the requirements. */
  meets(row: number, requirements: Requirements, id: number): boolean {
    return this.kinds.meets(itemAt(this.nodes, row), itemAt(this.kindOf, row), requirements, id);
  }

  /** `tolerationsKey`: key of the tolerations. */
  tolerates(
    row: number,
    tolerations: readonly Toleration[],
    tolerationsKey: string,
    ignorePreferred: boolean,
  ): boolean {
    return this.kinds.tolerates(itemAt(this.kindOf, row), tolerations, tolerationsKey, ignorePreferred);
  }

  /** Nodes whose labels and taints admit such pods, in fill order. */
  admitting(
    requirements: Requirements,
    requirementId: number,
    tolerations: readonly Toleration[],
    tolerationsKey: string,
    ignorePreferred: boolean,
  ): Admission {
    const key = `${requirementId}${ignorePreferred ? '~' : '/'}${tolerationsKey}`;
    return this.admissions.of(
      key,
      (row) =>
        this.tolerates(row, tolerations, tolerationsKey, ignorePreferred) &&
        this.meets(row, requirements, requirementId),
    );
  }

  /** Call when requirement ids are reassigned. */
  forgetRequirements(): void {
    this.kinds.forgetRequirements();
    this.admissions.clear();
  }

  private set(row: number, node: ExistingNode): void {
    const isGone = node === GONE;
    const kind = isGone ? NO_KIND : this.kinds.kindOf(node);
    this.preferring += Number(kind.hasPreferTaints) - Number(this.kindOf[row]?.hasPreferTaints ?? false);
    countResources(this.resources, this.nodes[row] ?? GONE, -1);
    countResources(this.resources, node, 1);
    this.nodes[row] = node;
    this.kindOf[row] = kind;
    this.free.set(this.table.offered(node.free), row * this.table.size);
    this.closed[row] = isGone || hasNegative(node.free) ? 1 : 0;
    this.changes.add(row);
  }

  private addRow(): number {
    const row = this.nodes.push(GONE) - 1;
    this.kindOf.push(NO_KIND);
    if (row >= this.closed.length) {
      const rows = row + Math.max(STEP, row >> 1);
      this.free = grown(new Float64Array(rows * this.table.size), this.free);
      this.closed = grown(new Uint8Array(rows), this.closed);
      this.rank = grown(new Int32Array(rows), this.rank);
    }
    return row;
  }

  private sort(): void {
    const { nodes } = this;
    const rows = this.listedRows.slice();
    const isBefore = (left: number, right: number): boolean => itemAt(nodes, left).name < itemAt(nodes, right).name;
    // Usually already sorted: the cluster lists nodes by name.
    if (rows.some((row, at) => at > 0 && !isBefore(intAt(rows, at - 1), row))) {
      rows.sort((left, right) => (isBefore(left, right) ? -1 : 1));
    }
    const isInitialized = (row: number): boolean => itemAt(nodes, row).initialized;
    this.order = Int32Array.from([...rows.filter(isInitialized), ...rows.filter((row) => !isInitialized(row))]);
    this.order.forEach((row, place) => (this.rank[row] = place));
  }
}

function grown<List extends Float64Array | Uint8Array | Int32Array>(list: List, before: List): List {
  list.set(before);
  return list;
}

/** By resource: number of nodes with some of it free. */
export function nodeResources(nodes: readonly ExistingNode[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const node of nodes) countResources(counts, node, 1);
  return counts;
}

function countResources(counts: Map<string, number>, { free }: ExistingNode, sign: number): void {
  for (const name in free) {
    if (quantityOf(free, name).sign() <= 0) continue;
    const count = (counts.get(name) ?? 0) + sign;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  }
}
