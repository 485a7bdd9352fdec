import type { Clock } from '../../clock/clock.ts';
import type { HintOptions } from './hintWriter.ts';

/** Result of telling pods: all had been told before, all are told now, or some are not and the wait is over. */
export type Telling = 'said' | 'told' | 'late';

export interface NodeOpeningPorts {
  readonly clock: Clock;
  /** Whether some planned nodes have not joined yet. */
  readonly areMoreComing: () => boolean;
  /** Decides which of the interchangeable pods is told which of these claims' nodes; pods of `settled` claims have been told. */
  readonly arrange: (claims: readonly string[], settled: ReadonlySet<string>) => void;
  /**
   * The claims by the highest priority of their pods and, within a priority, those whose pods the scheduler is about to
   * try first.
   */
  readonly inOrder: (claims: readonly string[]) => readonly (readonly string[])[];
  /** Writes hints for the pods of these claims' nodes until `end`, which may grow in the meantime. */
  readonly tell: (claims: readonly string[], end: () => number, options: HintOptions) => Promise<Telling>;
}

/**
 * Milliseconds for which a group of nodes keeps its `unregistered` taints so that hints can be written: for the first
 * node, and for each further one.
 */
const TELLING = { first: 1_000, further: 250 };
/** Upper limit on that time for any group. */
const LONGEST = 10_000;
/** How long a group waits for the next node of the same plan, and for all of them, before its pods are told. */
const LINGER = { idle: 200, longest: 1_000 };
/**
 * Upper limit on the time for the scheduler to see the last hints, which grows with their number: it watches nodes and
 * pods separately, and must not see a node open before it knows for which pods the room is reserved.
 */
const SETTLE = 200;
const MOST_BEGUN = 10_000;
/**
 * How many nodes are let open at once. The scheduler begins with the first, and binds pods faster than nodes open one after
 * another; the API server takes writes that come together about in their order.
 */
const AT_ONCE = 100;
/** Upper limit on the time to open a group in order; then the rest opens at once. */
const LONGEST_OPENING = 1_000;
/**
 * For so long for each node, in milliseconds, the pods of a group that is open have the API server to themselves: hints that
 * the scheduler clears meanwhile are to be written again before others take the room.
 */
const BINDING = 12;
/** How many times hints cleared in the meantime are rewritten before the nodes open. */
const ROUNDS = 5;

/**
 * Opens nodes that join at about the same time together, after all their pods have hints. When a node opens, the
 * scheduler tries every waiting pod and clears the hints of those whose own node is still closed; the room that these
 * hints reserved is then lost.
 */
export class NodeOpening {
  private readonly ports: NodeOpeningPorts;
  private group: Group | undefined;
  /** Claims whose pods were told recently. */
  private readonly begun = new Set<string>();
  /** By claim: its group while it opens. */
  private readonly leaving = new Map<string, Procession>();

  constructor(ports: NodeOpeningPorts) {
    this.ports = ports;
  }

  /** Returns when the claim's node may accept pods. */
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
   * Call when the claim's node is open. Returns when all nodes of its group are: until then the API server should do
   * nothing else for them, because the scheduler has started, and pods whose node is still closed take the room of
   * others.
   */
  async opened(claim: string, signal: AbortSignal): Promise<void> {
    await this.leaving.get(claim)?.opened(claim, signal);
  }

  /** Whether pods were told of the claim's node, which is about to open or has opened. */
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

  /** Returns the claims in the order in which their nodes should open. */
  private async fill(group: Group, signal: AbortSignal): Promise<readonly (readonly string[])[]> {
    const { clock, arrange, inOrder, tell } = this.ports;
    const latest = clock.now() + LONGEST;
    await this.linger(group, signal);
    const start = clock.now();
    const end = (): number => Math.min(latest, start + TELLING.first + TELLING.further * (group.gates.size - 1));
    let arranged: readonly string[] = [];
    for (let round = 0; round < ROUNDS && clock.now() < end(); round++) {
      if (arranged.length < group.gates.size) {
        const settled = new Set(arranged);
        arranged = [...group.gates.keys()];
        arrange(arranged, settled);
        this.begin(arranged);
        round = 0;
      }
      const began = clock.now();
      const telling = await tell(arranged, end, { signal, isUrgent: round > 0 });
      if (telling === 'late') break;
      if (telling === 'told') await clock.sleep(Math.min(SETTLE, (clock.now() - began) / 10), signal);
      else if (arranged.length === group.gates.size) break;
    }
    // While hints are written the scheduler goes on trying pods; those tried meanwhile come last.
    const waves = inOrder(arranged);
    const late = [...group.gates.keys()].slice(arranged.length);
    return [...waves.slice(0, -1), [...(waves.at(-1) ?? []), ...late]];
  }

  private begin(claims: readonly string[]): void {
    if (this.begun.size > MOST_BEGUN) this.begun.clear();
    for (const claim of claims) this.begun.add(claim);
  }

  /** Waits for more nodes of the plan, which often join at about the same time. */
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
 * Opens nodes one after another, a few at a time. A wave starts when all nodes of the previous wave are open: a pod of
 * higher priority that is tried before its own node is open takes open room planned for other pods.
 */
class Procession {
  private readonly clock: Clock;
  private readonly waves: string[][];
  private readonly gates: ReadonlyMap<string, Gate>;
  /** Claims of the first wave that are not open. */
  private readonly unopened = new Set<string>();
  /** Aborted when all are open or the time is over. */
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
    if (this.unopened.size === 0) this.rest();
    for (let under = 0; under < AT_ONCE; under++) this.next();
  }

  private rest(): void {
    const { signal } = this.over;
    void this.clock
      .sleep(BINDING * this.gates.size, signal)
      .then(() => this.over.abort())
      .catch(() => undefined);
  }

  private next(): void {
    const claim = this.waves[0]?.shift();
    if (claim !== undefined) this.gates.get(claim)?.open();
  }
}
