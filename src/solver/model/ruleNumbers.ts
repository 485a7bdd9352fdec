/**
 * Numbers pods by their rules: equal rules have equal numbers. Only parts that differ from the previous pod's are
 * converted to text.
 */
import { podKey } from '../../pods/podKey.ts';
import type { Pod } from '../../api/kinds.ts';
import type { Snapshot } from '../problem.ts';
import { itemAt } from '../rows.ts';
import { defaultConstraints, podGroup, recordKey, volumesKey } from './podShape.ts';

/** Parts of the rules, in a fixed order. */
const AFFINITY = 0;
const SPREAD = 1;
const NAMESPACE = 2;
const LABELS = 3;
const TOLERATIONS = 4;
const SELECTOR = 5;
const GROUP = 6;
const VOLUMES = 7;
const PRIORITY = 8;
const PARTS = 9;

export class RuleNumbers {
  private readonly snapshot: Snapshot;
  private readonly affinities = new Texts();
  private readonly spreads = new Texts();
  private readonly tolerations = new Texts();
  /** Pods that need a text of their own. */
  private readonly others = new Map<string, number>();
  /** Trie: (prefix number, part, value number) → number; 0 is a pod without rules. */
  private readonly known = new Map<number, number>();

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  of(pod: Pod): number {
    const { spec, metadata } = pod;
    if (spec === undefined) return 0;
    const { nodeSelector, tolerations, affinity, topologySpreadConstraints: own, priority } = spec;
    let number = 0;
    const spread = own === undefined || own.length === 0 ? defaultConstraints(pod, this.snapshot) : own;
    if (affinity) number = this.with(number, AFFINITY, this.affinities.numberOf(affinity));
    if (spread.length > 0) number = this.with(number, SPREAD, this.spreads.numberOf(spread));
    if (spread.length > 0 || affinity?.podAffinity || affinity?.podAntiAffinity) {
      number = this.with(number, NAMESPACE, this.other(metadata.namespace ?? 'default'));
      // matchLabelKeys take values from the pod's own labels.
      if ((affinity && this.affinities.lastTakesLabels) || (spread.length > 0 && this.spreads.lastTakesLabels)) {
        number = this.with(number, LABELS, this.other(JSON.stringify(metadata.labels)));
      }
    }
    if (tolerations && tolerations.length > 0) {
      number = this.with(number, TOLERATIONS, this.tolerations.numberOf(tolerations));
    }
    if (nodeSelector) number = this.with(number, SELECTOR, this.other(recordKey(nodeSelector)));
    const group = metadata.annotations === undefined ? undefined : podGroup(pod);
    if (group !== undefined) number = this.with(number, GROUP, this.other(group));
    const volumes = this.snapshot.volumes?.get(podKey(pod));
    if (volumes !== undefined) number = this.with(number, VOLUMES, this.other(volumesKey(volumes)));
    if (priority) number = this.with(number, PRIORITY, this.other(`${priority}`));
    return number;
  }

  private with(number: number, part: number, value: number): number {
    // Exact below millions of distinct parts; memory would run out first.
    const step = (number * PARTS + part) * 2 ** 24 + value;
    let next = this.known.get(step);
    if (next === undefined) {
      next = this.known.size + 1;
      this.known.set(step, next);
    }
    return next;
  }

  private other(text: string): number {
    let number = this.others.get(text);
    if (number === undefined) {
      number = this.others.size;
      this.others.set(text, number);
    }
    return number;
  }
}

/** Numbers objects by their text. Pods of one workload often share objects, so the last one is cached. */
class Texts {
  private readonly numbers = new Map<string, number>();
  private readonly takesLabels: boolean[] = [];
  private lastValue: object | undefined;
  private lastNumber = 0;

  numberOf(value: object): number {
    if (value === this.lastValue) return this.lastNumber;
    const text = JSON.stringify(value);
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(text, number);
      this.takesLabels.push(text.includes('atchLabelKeys'));
    }
    this.lastValue = value;
    this.lastNumber = number;
    return number;
  }

  get lastTakesLabels(): boolean {
    return itemAt(this.takesLabels, this.lastNumber);
  }
}
