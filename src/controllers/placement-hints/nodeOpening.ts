import type { Clock } from '../../clock/clock.ts';
import type { HintOptions } from './hintWriter.ts';

/** What came of telling pods: all had been told, all are told now, or some are not and are waited for no longer. */
export type Telling = 'said' | 'told' | 'late';

export interface NodeOpeningPorts {
  readonly clock: Clock;
  /** Whether planned nodes have yet to join. */
  readonly areMoreComing: () => boolean;
  /** Settles which of the pods that are alike is told which of these claims' nodes. */
  readonly arrange: (claims: readonly string[]) => void;
  /** Tells the pods of these claims' nodes where they are expected, until `end` at the latest. */
  readonly tell: (claims: readonly string[], end: number, options: HintOptions) => Promise<Telling>;
}

/** No group of nodes waits longer than this with its `unregistered` taints, in milliseconds. */
const LONGEST = 10_000;
/** How long a group waits for the next node of the same plan, and for all of them, before it tells pods. */
const LINGER = { idle: 200, longest: 1_000 };
/**
 * The longest time for the scheduler to see the last hints, which is longer the more there were: it watches nodes and pods
 * apart, and must not see a node open before it knows which pods the room is for.
 */
const SETTLE = 200;
const MOST_BEGUN = 10_000;
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

  constructor(ports: NodeOpeningPorts) {
    this.ports = ports;
  }

  /** Returns when the claim's node may take pods. */
  async join(claim: string, signal: AbortSignal): Promise<void> {
    const { group } = this;
    if (group === undefined) return this.open(claim, signal);
    group.claims.push(claim);
    group.lastJoin = this.ports.clock.now();
    return group.opened;
  }

  /** Whether pods have been told of the claim's node, which is about to open or has opened. */
  hasBegun(claim: string): boolean {
    return this.begun.has(claim);
  }

  private open(first: string, signal: AbortSignal): Promise<void> {
    const group: Group = { claims: [first], lastJoin: this.ports.clock.now() };
    this.group = group;
    group.opened = this.fill(group, signal);
    return group.opened;
  }

  private async fill(group: Group, signal: AbortSignal): Promise<void> {
    const { clock, arrange, tell } = this.ports;
    const end = clock.now() + LONGEST;
    try {
      await this.linger(group, signal);
      for (let round = 0, nodes = 0; round < ROUNDS && clock.now() < end; round++) {
        if (nodes < group.claims.length) {
          arrange(group.claims.slice(nodes));
          nodes = group.claims.length;
          this.begin(group.claims);
          round = 0;
        }
        const began = clock.now();
        const telling = await tell(group.claims, end, { signal, isUrgent: round > 0 });
        if (telling === 'late') return;
        if (telling === 'told') await clock.sleep(Math.min(SETTLE, (clock.now() - began) / 10), signal);
        else if (nodes === group.claims.length) return;
      }
    } finally {
      this.group = undefined;
    }
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
  readonly claims: string[];
  lastJoin: number;
  opened?: Promise<void>;
}
