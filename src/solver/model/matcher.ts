/**
 * Finds the counters that count each pod; equal sets are stored once. Selectors are evaluated once per combination of
 * the labels that they read.
 */
import type { Pod } from '../../api/kinds.ts';
import { isSelected } from '../../constraints/topology.ts';
import type { Counters } from './counters.ts';

interface Signature {
  /** The counters' names in order. */
  readonly text: string;
  readonly counted: readonly number[];
}

export class Matcher {
  private readonly counters: Counters;
  private readonly labelKeys: readonly string[];
  private readonly byLabels = new Map<string, number>();
  private readonly byText = new Map<string, number>();
  private readonly found: Signature[] = [];

  constructor(counters: Counters) {
    this.counters = counters;
    const keys = new Set<string>();
    for (const { spec } of counters.all) {
      for (const { selector } of spec.selections) {
        for (const key of Object.keys(selector?.matchLabels ?? {})) keys.add(key);
        for (const { key } of selector?.matchExpressions ?? []) keys.add(key);
      }
    }
    this.labelKeys = [...keys].sort();
  }

  /** Sets in order of their names, and by pod which. */
  match(pods: readonly Pod[]): { signatures: readonly Signature[]; signatureOf: Int32Array } {
    const signatureOf = new Int32Array(pods.length);
    if (this.counters.all.length === 0) return { signatures: [{ text: '', counted: [] }], signatureOf };
    for (let at = 0; at < pods.length; at++) signatureOf[at] = this.find(pods[at]!);
    const { found } = this;
    const order = found.map((_, id) => id).sort((left, right) => (found[left]!.text < found[right]!.text ? -1 : 1));
    const place = new Int32Array(found.length);
    order.forEach((id, at) => (place[id] = at));
    for (let at = 0; at < pods.length; at++) signatureOf[at] = place[signatureOf[at]!]!;
    return { signatures: order.map((id) => found[id]!), signatureOf };
  }

  private find({ metadata }: Pod): number {
    const { labels = {}, namespace = 'default' } = metadata;
    const { labelKeys } = this;
    let key = namespace;
    for (let at = 0; at < labelKeys.length; at++) {
      const label = labelKeys[at]!;
      key += Object.hasOwn(labels, label) ? `\n=${labels[label]}` : '\n';
    }
    const known = this.byLabels.get(key);
    if (known !== undefined) return known;
    const counted = this.counters.all.flatMap(({ spec }, id) =>
      spec.selections.every((selection) => isSelected(selection, namespace, labels)) ? [id] : [],
    );
    const text = counted
      .map((id) => this.counters.at(id).spec.key)
      .sort()
      .join('\n');
    let id = this.byText.get(text);
    if (id === undefined) {
      id = this.found.push({ text, counted }) - 1;
      this.byText.set(text, id);
    }
    this.byLabels.set(key, id);
    return id;
  }
}
