/** Values that a topology key can still have on a planned node in a state. Computed once per state and key. */
import { Labels } from '../../api/labels.ts';
import { DRAWN_VALUE, type Counters } from '../model/counters.ts';
import type { Model } from '../model/model.ts';
import { floatAt } from '../rows.ts';

/** Possible values of a key in a state, and the state after choosing each (-1: impossible). */
interface Options {
  readonly all: readonly { readonly domain: number; readonly state: number; readonly isRegional: boolean }[];
  /** The price depends on the value. */
  readonly arePriced: boolean;
}

export class DomainOptions {
  /** Some state leaves a label's value to be drawn when the node is created. */
  hasDrawn = false;
  private readonly model: Model;
  private readonly counters: Counters;
  private readonly avoidsReserved: boolean;
  private readonly known: Map<string, Options>[] = [];

  constructor(model: Model, counters: Counters, avoidsReserved: boolean) {
    this.model = model;
    this.counters = counters;
    this.avoidsReserved = avoidsReserved;
  }

  of(state: number, key: string): Options {
    const known = (this.known[state] ??= new Map());
    let options = known.get(key);
    if (options === undefined) {
      options = this.find(state, key);
      known.set(key, options);
    }
    return options;
  }

  private find(state: number, key: string): Options {
    const { states } = this.model;
    const domains = this.counters.domains(key);
    const { regionalZones } = states.at(state).pool;
    const isRegional = (value: string): boolean => key === Labels.zone && regionalZones.has(value);
    if (states.isDrawn(state, key)) {
      this.hasDrawn = true;
      return { all: [{ domain: domains.numberOf(DRAWN_VALUE), state, isRegional: false }], arePriced: false };
    }
    // At the same price a zone is preferred to no zone.
    const values = states.valuesOf(state, key);
    const ordered = [...values.filter((value) => !isRegional(value)), ...values.filter(isRegional)];
    const all = ordered.map((value) => {
      const pinned = states.pin(state, key, value);
      const isAvoided = this.avoidsReserved && !this.isReserved(state) && this.isReserved(pinned);
      return { domain: domains.numberOf(value), state: isAvoided ? -1 : pinned, isRegional: isRegional(value) };
    });
    const prices = all.flatMap((option) => (option.state < 0 ? [] : [states.at(option.state).price]));
    const [first, ...others] = prices;
    const arePriced =
      first !== undefined && others.some((other) => other.some((price, type) => price !== floatAt(first, type)));
    return { all, arePriced };
  }

  private isReserved(state: number): boolean {
    if (state < 0) return false;
    const { offerings, reserved } = this.model.states.at(state);
    return offerings.length === reserved.length;
  }
}
