/**
 * Nodes that are there, as rows of numbers. In: nodes; out: free room, and answers about labels and taints that are
 * remembered per kind of node rather than per node.
 */
import { Labels, normalizeLabelKey } from '../../api/labels.ts';
import type { Taint } from '../../api/kinds/nodeTemplate.ts';
import { NODE_NAME_FIELD } from '../../constraints/podRequirements.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { untoleratedTaints } from '../../pods/taints.ts';
import type { ExistingNode } from '../problem.ts';
import { Interner } from './interner.ts';
import type { Toleration } from './podShape.ts';
import type { ResourceTable } from './resourceTable.ts';

const MAX_REMEMBERED = 512;

export class ExistingNodes {
  /** Machines that are up come before those on their way, each in order of name. */
  readonly nodes: readonly ExistingNode[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly free: Float64Array;
  /** Something is already taken that is not there: such a node takes nothing more. */
  readonly overcommitted: Uint8Array;
  readonly hasPreferTaints: boolean;
  private readonly labels: (Requirements | undefined)[] = [];
  private readonly passing = new Map<string, Int32Array>();
  private readonly labelKinds: Int32Array;
  private readonly taintKinds: Int32Array;
  private readonly taints = new Interner<readonly Taint[]>();
  private readonly fitting = new Map<string, boolean>();
  private readonly tolerated = new Map<string, boolean>();

  constructor(nodes: readonly ExistingNode[], table: ResourceTable) {
    this.nodes = [...nodes].sort(
      (left, right) => Number(right.initialized) - Number(left.initialized) || (left.name < right.name ? -1 : 1),
    );
    this.indexOf = new Map(this.nodes.map(({ name }, index) => [name, index]));
    this.free = new Float64Array(this.nodes.length * table.size);
    this.nodes.forEach(({ free }, index) => this.free.set(table.offered(free), index * table.size));
    this.overcommitted = Uint8Array.from(this.nodes, ({ free }) =>
      Object.values(free).some((amount) => amount.sign() < 0) ? 1 : 0,
    );
    const kinds = new Interner<Requirements>();
    // The hostname and the name make every node its own kind; most requirements do not ask for them.
    this.labelKinds = Int32Array.from(this.nodes, ({ labels }) => {
      const { [Labels.hostname]: _, ...shared } = labels;
      return kinds.intern(
        JSON.stringify(Object.entries(shared).sort(([left], [right]) => (left < right ? -1 : 1))),
        () => Requirements.empty,
      );
    });
    this.taintKinds = Int32Array.from(this.nodes, ({ taints }) =>
      this.taints.intern(JSON.stringify(taints), () => taints),
    );
    this.hasPreferTaints = this.taints.values.some((taints) => taints.some(isPreferred));
  }

  label(node: number, key: string): string | undefined {
    const { labels, name } = this.nodes[node]!;
    const own = labels[key] ?? (key === Labels.hostname ? name : undefined);
    if (own !== undefined) return own;
    const old = Object.keys(labels).find((label) => normalizeLabelKey(label) === key);
    return old === undefined ? undefined : labels[old];
  }

  meets(node: number, requirements: Requirements, id: number): boolean {
    const single = requirements.has(Labels.hostname) || requirements.has(NODE_NAME_FIELD);
    const key = single ? `n${node}/${id}` : `${this.labelKinds[node]}/${id}`;
    const known = this.fitting.get(key);
    if (known !== undefined) return known;
    const answer = this.requirementsOf(node).isCompatible(requirements);
    this.fitting.set(key, answer);
    return answer;
  }

  private requirementsOf(node: number): Requirements {
    const { name, labels } = this.nodes[node]!;
    return (this.labels[node] ??= Requirements.fromLabels({
      [Labels.hostname]: name,
      [NODE_NAME_FIELD]: name,
      ...labels,
    }));
  }

  /** Nodes whose labels and taints admit such pods, in order. Worked out once, whatever the question. */
  admitting(
    requirements: Requirements,
    requirementId: number,
    tolerations: readonly Toleration[],
    tolerationsKey: string,
    ignorePreferred: boolean,
  ): Int32Array {
    const key = `${requirementId}${ignorePreferred ? '~' : '/'}${tolerationsKey}`;
    const known = this.passing.get(key);
    if (known !== undefined) return known;
    const found: number[] = [];
    for (let node = 0; node < this.nodes.length; node++) {
      if (this.overcommitted[node] !== 0) continue;
      if (!this.tolerates(node, tolerations, tolerationsKey, ignorePreferred)) continue;
      if (this.meets(node, requirements, requirementId)) found.push(node);
    }
    // A bound for those who keep a model for long and ask about ever new requirements.
    if (this.passing.size >= MAX_REMEMBERED) this.passing.clear();
    const list = Int32Array.from(found);
    this.passing.set(key, list);
    return list;
  }

  /** `tolerationsKey` names the tolerations. */
  tolerates(
    node: number,
    tolerations: readonly Toleration[],
    tolerationsKey: string,
    ignorePreferred: boolean,
  ): boolean {
    const kind = this.taintKinds[node]!;
    const taints = this.taints.at(kind);
    if (taints.length === 0) return true;
    const key = `${kind}${ignorePreferred ? '~' : '/'}${tolerationsKey}`;
    const known = this.tolerated.get(key);
    if (known !== undefined) return known;
    const missing = untoleratedTaints(taints, tolerations).filter((taint) => !ignorePreferred || !isPreferred(taint));
    this.tolerated.set(key, missing.length === 0);
    return missing.length === 0;
  }
}

export const isPreferred = ({ effect }: { readonly effect?: string }): boolean => effect === 'PreferNoSchedule';
