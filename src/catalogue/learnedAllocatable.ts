/**
 * The real allocatable resources of nodes, learned from joined nodes: by instance type, image, and the class's settings
 * for pods and disk. Every process learns them again from existing nodes. Of several nodes, the least value counts.
 */
import type { Node } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels } from '../api/labels.ts';
import type { Quantity } from '../units/quantity.ts';
import { parseResources, quantityOf, type Resources } from '../units/resources.ts';

/** Properties that determine a node's allocatable resources. */
export interface NodeBuild {
  readonly instanceType: string;
  readonly imageId: string;
  readonly maxPods: number;
  readonly osDiskBytes: number;
}

export interface LearnedRoom {
  readonly build: NodeBuild;
  /** The expected resources of the first node. */
  readonly expected: Resources;
  readonly real: Resources;
  /** Number of existing nodes from which it was learned. */
  readonly nodes: number;
}

interface Entry {
  readonly build: NodeBuild;
  readonly expected: Resources;
  readonly byNode: Map<string, Resources>;
  least: Resources;
}

/** Other resources are set by device plug-ins and similar. */
export const LEARNED_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'] as const;
/** A node with less than this share of the expected resources is broken rather than small. */
const LEAST_SHARE = 0.5;
const MAX_ENTRIES = 2_000;

export class LearnedAllocatable {
  private readonly entries = new Map<string, Entry>();
  private readonly keyOfNode = new Map<string, string>();
  private generationNumber = 0;

  /** Increases whenever the result of `find` may change. */
  get generation(): number {
    return this.generationNumber;
  }

  find(build: NodeBuild): Resources | undefined {
    return this.entries.size === 0 ? undefined : this.entries.get(keyOf(build))?.least;
  }

  /** Learns from an initialized node; does nothing if it brings nothing new. */
  learn(claim: NodeClaim, node: Node): void {
    const build = buildOf(claim, node);
    if (build === undefined || node.metadata.labels?.[Labels.initialized] !== 'true') return;
    const real = roomOf(parseResources(node.status?.allocatable));
    const expected = roomOf(parseResources(claim.status?.allocatable));
    if (!isPlausible(real, expected)) return;
    const key = keyOf(build);
    const { name } = node.metadata;
    const before = this.keyOfNode.get(name);
    if (before !== key) this.forget(name);
    const entry = this.entries.get(key);
    if (entry === undefined) {
      // Existing entries are kept, so that no plan loses what an earlier one relied on.
      if (this.entries.size >= MAX_ENTRIES) return;
      this.entries.set(key, { build, expected, byNode: new Map([[name, real]]), least: real });
      this.generationNumber += 1;
    } else {
      const known = entry.byNode.get(name);
      entry.byNode.set(name, real);
      if (known === undefined || !isSame(known, real)) this.settle(entry);
    }
    this.keyOfNode.set(name, key);
  }

  /** Call when the node is deleted. Values learned from the last node of a build are kept. */
  forget(nodeName: string): void {
    const entry = this.entries.get(this.keyOfNode.get(nodeName) ?? '');
    this.keyOfNode.delete(nodeName);
    if (entry?.byNode.delete(nodeName) === true && entry.byNode.size > 0) this.settle(entry);
  }

  list(): readonly LearnedRoom[] {
    return [...this.entries.values()].map(({ build, expected, least, byNode }) => ({
      build,
      expected,
      real: least,
      nodes: byNode.size,
    }));
  }

  private settle(entry: Entry): void {
    const least = [...entry.byNode.values()].reduce(leastOf);
    if (isSame(least, entry.least)) return;
    entry.least = least;
    this.generationNumber += 1;
  }
}

/** Undefined for a node with too little data. */
function buildOf({ status }: NodeClaim, { metadata }: Node): NodeBuild | undefined {
  const instanceType = metadata.labels?.[Labels.instanceType];
  const capacity = parseResources(status?.capacity);
  const imageId = status?.imageID ?? '';
  const maxPods = quantityOf(capacity, 'pods').value();
  const osDiskBytes = quantityOf(capacity, 'ephemeral-storage').value();
  if (instanceType === undefined || imageId === '' || maxPods === 0 || osDiskBytes === 0) return undefined;
  return { instanceType, imageId, maxPods, osDiskBytes };
}

/** Images have two names: their path in a gallery, and AKS's. */
function keyOf({ instanceType, imageId, maxPods, osDiskBytes }: NodeBuild): string {
  const [, definition, version] = /\/images\/([^/]+)\/versions\/([^/]+)$/i.exec(imageId) ?? [];
  const image = definition === undefined ? imageId.replace(/^AKS[A-Za-z]+-/, '') : `${definition}-${version}`;
  return `${instanceType} ${image} ${maxPods} ${osDiskBytes}`.toLowerCase();
}

function roomOf(resources: Resources): Resources {
  return Object.fromEntries(LEARNED_RESOURCES.map((name) => [name, quantityOf(resources, name)]));
}

function isPlausible(real: Resources, expected: Resources): boolean {
  return LEARNED_RESOURCES.every((name) => {
    const amount = quantityOf(real, name).value();
    return amount > 0 && amount >= LEAST_SHARE * quantityOf(expected, name).value();
  });
}

function isSame(left: Resources, right: Resources): boolean {
  return LEARNED_RESOURCES.every((name) => quantityOf(left, name).compare(quantityOf(right, name)) === 0);
}

function leastOf(left: Resources, right: Resources): Resources {
  const smaller = (one: Quantity, other: Quantity): Quantity => (one.compare(other) <= 0 ? one : other);
  return Object.fromEntries(
    LEARNED_RESOURCES.map((name) => [name, smaller(quantityOf(left, name), quantityOf(right, name))]),
  );
}
