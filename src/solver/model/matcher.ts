/**
 * Finds the counters that count each pod; equal sets are stored once. Selectors are evaluated once per combination of
 * the labels they read.
 */
import type { Pod } from '../../api/kinds.ts';
import { isSelected } from '../../constraints/topology.ts';
import { intAt, itemAt } from '../rows.ts';
import type { Counters } from './counters.ts';
import { labelOf } from './topologyCounter.ts';

interface Signature {
  /** Sorted counter names. */
  readonly text: string;
  readonly counted: readonly number[];
}

export class Matcher {
  private readonly counters: Counters;
  private readonly labelKeys: readonly string[];
  /** By a label that a counter requires: such counters; under '' those that require none. */
  private readonly countersOf: ReadonlyMap<string, readonly number[]>;
  private readonly byLabels = new Map<string, number>();
  private readonly byText = new Map<string, number>();
  private readonly found: Signature[] = [];

  private constructor(
    counters: Counters,
    labelKeys: readonly string[],
    countersOf: ReadonlyMap<string, readonly number[]>,
  ) {
    this.counters = counters;
    this.labelKeys = labelKeys;
    this.countersOf = countersOf;
  }

  static of(counters: Counters): Matcher {
    const keys = new Set<string>();
    const countersOf = new Map<string, number[]>();
    for (const [id, { spec }] of counters.all.entries()) {
      const label = labelOf(spec);
      const others = countersOf.get(label);
      if (others === undefined) countersOf.set(label, [id]);
      else others.push(id);
      for (const { selector } of spec.selections) {
        for (const key of Object.keys(selector?.matchLabels ?? {})) keys.add(key);
        for (const { key } of selector?.matchExpressions ?? []) keys.add(key);
      }
    }
    return new Matcher(counters, [...keys].sort(), countersOf);
  }

  /** The distinct sets, sorted, and by pod the index of its set. */
  match(pods: readonly Pod[]): { signatures: readonly Signature[]; signatureOf: Int32Array } {
    const signatureOf = new Int32Array(pods.length);
    if (this.counters.all.length === 0) return { signatures: [{ text: '', counted: [] }], signatureOf };
    for (let at = 0; at < pods.length; at++) signatureOf[at] = this.find(itemAt(pods, at));
    const { found } = this;
    const order = found
      .map((_, id) => id)
      .sort((left, right) => (itemAt(found, left).text < itemAt(found, right).text ? -1 : 1));
    const place = new Int32Array(found.length);
    order.forEach((id, at) => (place[id] = at));
    for (let at = 0; at < pods.length; at++) signatureOf[at] = intAt(place, intAt(signatureOf, at));
    return { signatures: order.map((id) => itemAt(found, id)), signatureOf };
  }

  private find({ metadata }: Pod): number {
    const { labels = {}, namespace = 'default' } = metadata;
    const { labelKeys } = this;
    let key = namespace;
    for (let at = 0; at < labelKeys.length; at++) {
      const label = itemAt(labelKeys, at);
      key += Object.hasOwn(labels, label) ? `\n=${labels[label]}` : '\n';
    }
    const known = this.byLabels.get(key);
    if (known !== undefined) return known;
    const counted: number[] = [];
    const look = (label: string): void => {
      for (const id of this.countersOf.get(label) ?? []) {
        const { selections } = this.counters.at(id).spec;
        if (selections.every((selection) => isSelected(selection, namespace, labels))) counted.push(id);
      }
    };
    look('');
    for (const name of Object.keys(labels)) look(`${name}\n${labels[name]}`);
    counted.sort((left, right) => left - right);
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
