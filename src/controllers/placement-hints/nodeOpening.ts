import type { Clock } from '../../clock/clock.ts';
import type { HintOptions } from './hintWriter.ts';

/** What came of telling pods: all had been told, all are told now, or some are not and are waited for no longer. */
export type Telling = 'said' | 'told' | 'late';

export interface NodeOpeningPorts {
  readonly clock: Clock;
  /** Whether planned nodes have yet to join. */
  readonly areMoreComing: () => boolean;
  /** Tells the pods of these claims' nodes where they are expected, until `end` at the latest. */
  readonly tell: (claims: readonly string[], end: number, options: HintOptions) => Promise<Telling>;
}

/** No group of nodes waits longer than this with its `unregistered` taints, in milliseconds. */
const LONGEST = 10_000;
/** For so long a group waits for the next node of the same plan. */
const LINGER = 200;
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

  private open(first: string, signal: AbortSignal): Promise<void> {
    const group: Group = { claims: [first], lastJoin: this.ports.clock.now() };
    this.group = group;
    group.opened = this.fill(group, signal);
    return group.opened;
  }

  private async fill(group: Group, signal: AbortSignal): Promise<void> {
    const { clock, areMoreComing, tell } = this.ports;
    const end = clock.now() + LONGEST;
    try {
      for (let round = 0, nodes = 0; round < ROUNDS && clock.now() < end; round++) {
        if (nodes < group.claims.length) round = 0;
        nodes = group.claims.length;
        const telling = await tell(group.claims, end, { signal, isUrgent: round > 0 });
        if (telling === 'late') return;
        if (telling === 'told') continue;
        const linger = areMoreComing() ? group.lastJoin + LINGER - clock.now() : 0;
        if (linger <= 0) return;
        await clock.sleep(Math.min(linger, end - clock.now()), signal);
      }
    } finally {
      this.group = undefined;
    }
  }
}

/** Nodes that wait for one another. */
interface Group {
  readonly claims: string[];
  lastJoin: number;
  opened?: Promise<void>;
}
