/** Caches answers about labels and taints per kind of node: nodes usually differ only in their names. */
import type { Taint } from '../../api/kinds/nodeTemplate.ts';
import { Labels } from '../../api/labels.ts';
import { NODE_NAME_FIELD } from '../../constraints/podRequirements.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { untoleratedTaints } from '../../pods/taints.ts';
import type { ExistingNode } from '../problem.ts';
import { Interner } from './interner.ts';
import type { Toleration } from './podShape.ts';

/** Cached answers of each type. */
const MAX_ANSWERS = 100_000;
const NO_TAINTS = 0;

/** A node's kinds of labels and taints. */
export interface NodeKind {
  readonly labels: number;
  readonly taints: number;
  readonly hasPreferTaints: boolean;
}

export class NodeKinds {
  private readonly labelKinds = new Interner<null>();
  private readonly taintKinds = new Interner<readonly Taint[]>();
  private readonly kindOfLabels = new WeakMap<object, number>();
  private readonly requirements = new WeakMap<ExistingNode, Requirements>();
  private readonly fitting = new Map<string, boolean>();
  private readonly tolerated = new Map<string, boolean>();

  constructor() {
    this.taintKinds.intern('[]', () => []);
  }

  /** Kinds seen so far; grows as nodes come and go. */
  get size(): number {
    return this.labelKinds.values.length + this.taintKinds.values.length;
  }

  kindOf({ labels, taints }: ExistingNode): NodeKind {
    let kind = this.kindOfLabels.get(labels);
    if (kind === undefined) {
      // Without the hostname, which would make every node its own kind and which few requirements use.
      const { [Labels.hostname]: _, ...shared } = labels;
      const sorted = Object.entries(shared).sort(([left], [right]) => (left < right ? -1 : 1));
      kind = this.labelKinds.intern(JSON.stringify(sorted), () => null);
      this.kindOfLabels.set(labels, kind);
    }
    return {
      labels: kind,
      taints: taints.length === 0 ? NO_TAINTS : this.taintKinds.intern(JSON.stringify(taints), () => taints),
      hasPreferTaints: taints.some(isPreferred),
    };
  }

  /** Call when requirement ids are reassigned. */
  forgetRequirements(): void {
    this.fitting.clear();
  }

  /** `id`: id of the requirements. */
  meets(node: ExistingNode, kind: NodeKind, requirements: Requirements, id: number): boolean {
    if (requirements.size === 0) return true;
    if (requirements.has(Labels.hostname) || requirements.has(NODE_NAME_FIELD)) {
      return this.requirementsOf(node).isCompatible(requirements);
    }
    const key = `${kind.labels}/${id}`;
    const known = this.fitting.get(key);
    if (known !== undefined) return known;
    const answer = this.requirementsOf(node).isCompatible(requirements);
    if (this.fitting.size >= MAX_ANSWERS) this.fitting.clear();
    this.fitting.set(key, answer);
    return answer;
  }

  /** `tolerationsKey`: key of the tolerations. */
  tolerates(
    kind: NodeKind,
    tolerations: readonly Toleration[],
    tolerationsKey: string,
    ignorePreferred: boolean,
  ): boolean {
    if (kind.taints === NO_TAINTS) return true;
    const key = `${kind.taints}${ignorePreferred ? '~' : '/'}${tolerationsKey}`;
    const known = this.tolerated.get(key);
    if (known !== undefined) return known;
    const missing = untoleratedTaints(this.taintKinds.at(kind.taints), tolerations);
    const answer = missing.every((taint) => ignorePreferred && isPreferred(taint));
    if (this.tolerated.size >= MAX_ANSWERS) this.tolerated.clear();
    this.tolerated.set(key, answer);
    return answer;
  }

  private requirementsOf(node: ExistingNode): Requirements {
    let own = this.requirements.get(node);
    if (own === undefined) {
      const { name, labels } = node;
      own = Requirements.fromLabels({ [Labels.hostname]: name, [NODE_NAME_FIELD]: name, ...labels });
      this.requirements.set(node, own);
    }
    return own;
  }
}

export const isPreferred = ({ effect }: { readonly effect?: string }): boolean => effect === 'PreferNoSchedule';
