import type { Clock } from '../../clock/clock.ts';
import type { HintOptions } from './hintWriter.ts';

/** What came of telling pods: all had been told, all are told now, or some are not and are waited for no longer. */
export type Telling = 'said' | 'told' | 'late';

export interface NodeOpeningPorts {
  readonly clock: Clock;
  /** Whether planned nodes have yet to join. */
  readonly areMoreComing: () => boolean;
  /**
   * Settles which of the pods that are alike is told which of these claims' nodes; pods of `settled` claims have been told.
   * Returns the claims by the highest priority of their pods, and of one priority those first whose pods the scheduler is
   * about to try.
   */
  readonly arrange: (claims: readonly string[], settled: ReadonlySet<string>) => readonly (readonly string[])[];
  /** Tells the pods of these claims' nodes where they are expected, until `end` at the latest, which may grow meanwhile. */
  readonly tell: (claims: readonly string[], end: () => number, options: HintOptions) => Promise<Telling>;
}

/**
 * How long a group of nodes keeps its `unregistered` taints for hints to be written, in milliseconds: for one node, and more
 * for each further one.
 */
const TELLING = { first: 1_000, further: 250 };
/** No group of nodes waits longer than this with its `unregistered` taints. */
const LONGEST = 10_000;
/** How long a group waits for the next node of the same plan, and for all of them, before it tells pods. */
const LINGER = { idle: 200, longest: 1_000 };
/**
 * The longest time for the scheduler to see the last hints, which is longer the more there were: it watches nodes and pods
 * apart, and must not see a node open before it knows which pods the room is for.
 */
const SETTLE = 200;
const MOST_BEGUN = 10_000;
/** How many nodes are let open at once: so many that the API server is busy, so few that their order counts. */
const AT_ONCE = 12;
/** How long a group takes to open at most; then all the rest of it may at once. */
const LONGEST_OPENING = 1_000;
/** How often hints that were cleared meanwhile are written again before the nodes open. */
const ROUNDS = 5;

/**
 * Opens nodes that join at about the same time to pods together, once all their pods have been told. When one node opens,
 * the scheduler tries every pod that waits, clears the hints of those whose own node is still closed, and has lost the
 * room that they protect by the time it opens.
 */
export class NodeOpening {
  private readonly ports: NodeOpeningPorts;
  private group: Group | undefined;
  /** Claims whose pods were told, of late. */
  private readonly begun = new Set<string>();
  /** By claim: its group, while it opens. */
  private readonly leaving = new Map<string, Procession>();

  constructor(ports: NodeOpeningPorts) {
    this.ports = ports;
  }

  /** Returns when the claim's node may take pods. */
  async join(claim: string, signal: AbortSignal): Promise<void> {
    const gate = new Gate();
    const lastJoin = this.ports.clock.now();
    if (this.group === undefined) this.start({ gates: new Map([[claim, gate]]), lastJoin }, signal);
    else {
      this.group.gates.set(claim, gate);
      this.group.lastJoin = lastJoin;
    }
    return gate.passed;
  }

  /**
   * The claim's node is open. Returns when all of its group are: until then the API server should have nothing else to do
   * for them, for the scheduler has begun, and pods whose node is still closed take the room of others.
   */
  async opened(claim: string, signal: AbortSignal): Promise<void> {
    await this.leaving.get(claim)?.opened(claim, signal);
  }

  /** Whether pods have been told of the claim's node, which is about to open or has opened. */
  hasBegun(claim: string): boolean {
    return this.begun.has(claim);
  }

  private start(group: Group, signal: AbortSignal): void {
    this.group = group;
    this.fill(group, signal).then(
      (waves) => this.leave(group, waves),
      (error: unknown) => {
        this.group = undefined;
        for (const gate of group.gates.values()) gate.fail(error);
      },
    );
  }

  private leave({ gates }: Group, waves: readonly (readonly string[])[]): void {
    this.group = undefined;
    const order = waves.flat();
    const procession = new Procession(this.ports.clock, waves, gates, () => {
      for (const claim of order) if (this.leaving.get(claim) === procession) this.leaving.delete(claim);
    });
    for (const claim of order) this.leaving.set(claim, procession);
    procession.begin();
  }

  /** Returns the claims in the order in which their nodes are to open, as `arrange` does. */
  private async fill(group: Group, signal: AbortSignal): Promise<readonly (readonly string[])[]> {
    const { clock, arrange, tell } = this.ports;
    const latest = clock.now() + LONGEST;
    await this.linger(group, signal);
    const start = clock.now();
    const end = (): number => Math.min(latest, start + TELLING.first + TELLING.further * (group.gates.size - 1));
    let waves: readonly (readonly string[])[] = [];
    let order: readonly string[] = [];
    for (let round = 0; round < ROUNDS && clock.now() < end(); round++) {
      if (order.length < group.gates.size) {
        waves = arrange([...group.gates.keys()], new Set(order));
        order = waves.flat();
        this.begin(order);
        round = 0;
      }
      const began = clock.now();
      const telling = await tell(order, end, { signal, isUrgent: round > 0 });
      if (telling === 'late') break;
      if (telling === 'told') await clock.sleep(Math.min(SETTLE, (clock.now() - began) / 10), signal);
      else if (order.length === group.gates.size) break;
    }
    const arranged = new Set(order);
    const late = [...group.gates.keys()].filter((claim) => !arranged.has(claim));
    return [...waves.slice(0, -1), [...(waves.at(-1) ?? []), ...late]];
  }

  private begin(claims: readonly string[]): void {
    if (this.begun.size > MOST_BEGUN) this.begun.clear();
    for (const claim of claims) this.begun.add(claim);
  }

  /** Nodes of one plan often join at about the same time. */
  private async linger(group: Group, signal: AbortSignal): Promise<void> {
    const { clock, areMoreComing } = this.ports;
    const end = clock.now() + LINGER.longest;
    for (;;) {
      const rest = Math.min(group.lastJoin + LINGER.idle, end) - clock.now();
      if (rest <= 0 || !areMoreComing()) return;
      await clock.sleep(rest, signal);
    }
  }
}

/** Nodes that wait for one another. */
interface Group {
  readonly gates: Map<string, Gate>;
  lastJoin: number;
}

class Gate {
  open!: () => void;
  fail!: (error: unknown) => void;
  readonly passed = new Promise<void>((resolve, reject) => {
    this.open = resolve;
    this.fail = reject;
  });
}

/**
 * Nodes that open one after another, a few at a time. A wave of them waits until all of the one before are open: pods of a
 * higher priority take any open room that is not their like's when they are tried before their own node is open.
 */
class Procession {
  private readonly clock: Clock;
  private readonly waves: string[][];
  private readonly gates: ReadonlyMap<string, Gate>;
  /** Of the first wave. */
  private readonly unopened = new Set<string>();
  /** Aborts when all are open, or have had their time. */
  private readonly over = new AbortController();

  constructor(
    clock: Clock,
    waves: readonly (readonly string[])[],
    gates: ReadonlyMap<string, Gate>,
    onOver: () => void,
  ) {
    this.clock = clock;
    this.waves = waves.map((wave) => [...wave]);
    this.gates = gates;
    this.over.signal.addEventListener('abort', onOver, { once: true });
  }

  begin(): void {
    this.beginWave();
    const { signal } = this.over;
    void this.clock
      .sleep(LONGEST_OPENING, signal)
      .then(() => this.over.abort())
      .catch(() => undefined)
      .then(() => {
        for (const claim of this.waves.splice(0).flat()) this.gates.get(claim)?.open();
      });
  }

  async opened(claim: string, signal: AbortSignal): Promise<void> {
    this.unopened.delete(claim);
    if (this.unopened.size > 0) this.next();
    else {
      this.waves.shift();
      this.beginWave();
    }
    const either = AbortSignal.any([signal, this.over.signal]);
    if (!either.aborted) await new Promise<void>((resolve) => either.addEventListener('abort', () => resolve()));
  }

  private beginWave(): void {
    while (this.waves[0]?.length === 0) this.waves.shift();
    for (const claim of this.waves[0] ?? []) this.unopened.add(claim);
    if (this.unopened.size === 0) this.over.abort();
    for (let under = 0; under < AT_ONCE; under++) this.next();
  }

  private next(): void {
    const claim = this.waves[0]?.shift();
    if (claim !== undefined) this.gates.get(claim)?.open();
  }
}
