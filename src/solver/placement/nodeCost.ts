/** Type and cost of a planned node once it holds a load, by state and by the search's growth mode. */
import type { HostPort } from '../../pods/hostPorts.ts';
import { CPU } from '../model/resourceTable.ts';
import type { TypeChoice } from '../packing/typeChoice.ts';
import { floatAt } from '../rows.ts';
import type { StateCost } from './poolFit.ts';
import type { Growth } from './openNode.ts';

/** Where size decides, prices only break ties. */
const TIE = 1e-6;
const NO_LOAD = new Float64Array(0);

/** Reused for a whole search and pointed at one node after the other: it is called too often to allocate each time. */
export class NodeCost implements StateCost {
  private choice: TypeChoice;
  private load: Float64Array = NO_LOAD;
  /** Requests of one pod of the load. */
  private row: Float64Array = NO_LOAD;
  private ports: readonly HostPort[] = [];
  private budget: Float64Array | undefined;
  private growth: Growth = 'any';
  /** Cache of the last answer: every state is asked several times in a row. */
  private state = -1;
  private type = -1;

  constructor(choice: TypeChoice) {
    this.choice = choice;
  }

  /** `budget`: what the limits leave for the node. */
  point(
    choice: TypeChoice,
    growth: Growth,
    load: Float64Array,
    row: Float64Array,
    ports: readonly HostPort[],
    budget: Float64Array | undefined,
  ): void {
    this.choice = choice;
    this.growth = growth;
    this.load = load;
    this.row = row;
    this.ports = ports;
    this.budget = budget;
    this.state = -1;
  }

  /** The type that the node would have, or -1 if none holds the load. */
  typeIn(state: number): number {
    if (state === this.state) return this.type;
    this.state = state;
    const { choice, load, ports, budget } = this;
    this.type =
      this.growth === 'largest'
        ? choice.largestHolding(state, load, ports, budget)
        : choice.cheapestHolding(state, load, ports, budget);
    return this.type;
  }

  accepts(state: number): boolean {
    return this.typeIn(state) >= 0;
  }

  /** Dollars per hour. */
  dollars(state: number): number {
    return floatAt(this.choice.states.at(state).price, this.typeIn(state));
  }

  /** The quantity that the search compares. */
  price(state: number): number {
    const dollars = this.dollars(state);
    if (this.growth === 'room') return TIE * dollars - this.choice.mostHeld(state, this.row, this.budget);
    if (this.growth === 'largest') return TIE * dollars - this.choice.room.get(this.typeIn(state), CPU);
    return dollars;
  }

  limitNeed(state: number): Float64Array {
    return this.choice.limitNeed(state, this.typeIn(state), this.load, this.ports, this.budget);
  }
}
