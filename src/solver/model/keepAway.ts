/**
 * Required anti-affinity of running pods: which pods each term rejects, and on which nodes. Updated as nodes and pods
 * change.
 */
import type { Pod } from '../../api/kinds.ts';
import { isSelected, topologyTerms, type AffinityTerm, type NamespaceLabels } from '../../constraints/topology.ts';
import { itemAt } from '../rows.ts';
import type { ExistingNodes } from './existingNodes.ts';
import { keepAwaySpec, labelOf, type CounterSpec } from './topologyCounter.ts';

export interface KeepAway {
  readonly spec: CounterSpec;
  /** Rows of nodes with a pod that has the term. */
  readonly nodes: ReadonlySet<number>;
}

interface Kept {
  readonly spec: CounterSpec;
  readonly nodes: Set<number>;
}

const NONE: ReadonlySet<number> = new Set();

export class KeepAwayTerms {
  private readonly existing: ExistingNodes;
  private readonly namespaces: NamespaceLabels;
  private readonly byKey = new Map<string, Kept>();
  /** By a label that a term requires: keys of such terms; under '' those that require none. */
  private readonly byLabel = new Map<string, Set<string>>();
  /** By row: keys of the terms of the node's pods. Nodes without terms are absent. */
  private readonly keysOn = new Map<number, readonly string[]>();
  private version: number;

  private constructor(existing: ExistingNodes, namespaces: NamespaceLabels) {
    this.existing = existing;
    this.namespaces = namespaces;
    this.version = existing.changes.version;
  }

  static of(existing: ExistingNodes, namespaces: NamespaceLabels): KeepAwayTerms {
    const terms = new KeepAwayTerms(existing, namespaces);
    for (let row = 0; row < existing.rows; row++) terms.reread(row);
    return terms;
  }

  /** False when it must be rebuilt. */
  catchUp(): boolean {
    const { changes } = this.existing;
    if (this.version === changes.version) return true;
    const changed = changes.since(this.version);
    if (changed === undefined) return false;
    for (const row of changed) this.reread(row);
    this.version = changes.version;
    return true;
  }

  /** Terms that select one of the pods, sorted by key. */
  selecting(pods: readonly Pod[]): KeepAway[] {
    if (this.byKey.size === 0) return [];
    const found = new Map<string, Kept>();
    const look = (label: string, { metadata }: Pod): void => {
      for (const key of this.byLabel.get(label) ?? []) {
        const kept = this.byKey.get(key);
        if (kept === undefined || found.has(key)) continue;
        const selects = kept.spec.selections.every((selection) =>
          isSelected(selection, metadata.namespace ?? 'default', metadata.labels),
        );
        if (selects) found.set(key, kept);
      }
    };
    for (const pod of pods) {
      look('', pod);
      const { labels } = pod.metadata;
      for (const name in labels) look(`${name}\n${labels[name]}`, pod);
    }
    return [...found].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, kept]) => kept);
  }

  /** Rows of nodes with a pod that has the term with that key. */
  nodesWith(key: string): ReadonlySet<number> {
    return this.byKey.get(key)?.nodes ?? NONE;
  }

  private reread(row: number): void {
    const keys = new Set<string>();
    for (const pod of itemAt(this.existing.nodes, row).pods) {
      for (const term of antiAffinityTerms(pod, this.namespaces)) {
        const spec = keepAwaySpec(term);
        keys.add(spec.key);
        if (!this.byKey.has(spec.key)) this.open(spec);
        this.byKey.get(spec.key)?.nodes.add(row);
      }
    }
    for (const key of this.keysOn.get(row) ?? []) if (!keys.has(key)) this.leave(key, row);
    if (keys.size === 0) this.keysOn.delete(row);
    else this.keysOn.set(row, [...keys]);
  }

  private open(spec: CounterSpec): void {
    this.byKey.set(spec.key, { spec, nodes: new Set() });
    const label = labelOf(spec);
    const keys = this.byLabel.get(label);
    if (keys === undefined) this.byLabel.set(label, new Set([spec.key]));
    else keys.add(spec.key);
  }

  private leave(key: string, row: number): void {
    const kept = this.byKey.get(key);
    kept?.nodes.delete(row);
    if (kept === undefined || kept.nodes.size > 0) return;
    this.byKey.delete(key);
    const label = labelOf(kept.spec);
    const keys = this.byLabel.get(label);
    keys?.delete(key);
    if (keys?.size === 0) this.byLabel.delete(label);
  }
}

export function antiAffinityTerms(pod: Pod, namespaces: NamespaceLabels): readonly AffinityTerm[] {
  const required = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return required.length === 0 ? [] : topologyTerms(pod, namespaces).antiAffinity;
}
