/**
 * Groups pods by load and by rules: stores each distinct load and each distinct set of rules once, with an index per
 * pod. Most pods share at least one of them with others.
 */
import type { Pod } from '../../api/kinds.ts';
import { floatAt, intAt, itemAt } from '../rows.ts';
import { relaxationLadder, type Rung } from './ladder.ts';
import type { Model } from './model.ts';
import { LoadTexts, readLoad, readRules, rulesKey, type PodLoad, type PodRules } from './podShape.ts';
import { CPU, MEMORY } from './resourceTable.ts';
import { RuleNumbers } from './ruleNumbers.ts';

interface LoadGroup {
  readonly key: string;
  readonly load: PodLoad;
  readonly row: Float64Array;
  readonly unknownResource: string | undefined;
}

export interface RulesGroup {
  readonly text: string;
  readonly rules: PodRules;
  readonly rungs: readonly Rung[];
  readonly tolerationsKey: string;
}

/** The distinct loads and rules, and by pod its index in each. */
export interface Kinds {
  readonly loads: readonly LoadGroup[];
  readonly loadOf: Int32Array;
  readonly rules: readonly RulesGroup[];
  readonly rulesOf: Int32Array;
}

/** Loads and rules in a fixed order: the numbers of counters and states depend on it. */
export function kindsOf(pods: readonly Pod[], model: Model, policy: 'Respect' | 'Ignore'): Kinds {
  const { snapshot, hasPreferTaints, table } = model;
  const loadTexts = new LoadTexts();
  const numbers = new RuleNumbers(snapshot);
  const loads = new Kind<string, LoadGroup>(pods.length);
  const rules = new Kind<number, RulesGroup>(pods.length);
  for (let at = 0; at < pods.length; at++) {
    const pod = itemAt(pods, at);
    const load = loadTexts.of(pod);
    if (!loads.knows(at, load)) {
      const own = readLoad(pod);
      const row = table.asked(own.requests);
      loads.add(at, load, { key: load, load: own, row, unknownResource: table.unknown(own.requests) });
    }
    const number = numbers.of(pod);
    if (rules.knows(at, number)) continue;
    const own = readRules(pod, snapshot);
    const rungs = relaxationLadder(own, policy, hasPreferTaints);
    const text = rulesKey(pod, snapshot);
    rules.add(at, number, { text, rules: own, rungs, tolerationsKey: JSON.stringify(own.tolerations) });
  }
  // Largest first: place difficult pods while there is choice.
  const loadOf = loads.rank(
    (left, right) =>
      floatAt(right.row, CPU) - floatAt(left.row, CPU) ||
      floatAt(right.row, MEMORY) - floatAt(left.row, MEMORY) ||
      compareText(left.key, right.key),
  );
  const rulesOf = rules.rank(
    (left, right) => compareText(left.text, right.text) || right.rules.priority - left.rules.priority,
  );
  return { loads: loads.groups, loadOf, rules: rules.groups, rulesOf };
}

/** Groups of pods that have a key in common. */
class Kind<Key, Group> {
  groups: Group[] = [];
  private readonly ids = new Map<Key, number>();
  private readonly groupOf: Int32Array;

  constructor(pods: number) {
    this.groupOf = new Int32Array(pods);
  }

  /** Whether the key has a group; if so, adds the pod to it. */
  knows(pod: number, key: Key): boolean {
    const id = this.ids.get(key);
    if (id === undefined) return false;
    this.groupOf[pod] = id;
    return true;
  }

  add(pod: number, key: Key, group: Group): void {
    const id = this.groups.push(group) - 1;
    this.ids.set(key, id);
    this.groupOf[pod] = id;
  }

  /** Sorts the groups and returns the position of each pod's group. */
  rank(compare: (left: Group, right: Group) => number): Int32Array {
    const { groups } = this;
    const order = groups.map((_, id) => id).sort((left, right) => compare(itemAt(groups, left), itemAt(groups, right)));
    const place = new Int32Array(groups.length);
    order.forEach((id, at) => (place[id] = at));
    this.groups = order.map((id) => itemAt(groups, id));
    for (let pod = 0; pod < this.groupOf.length; pod++) this.groupOf[pod] = intAt(place, intAt(this.groupOf, pod));
    return this.groupOf;
  }
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
