import { Labels } from '../../api/labels.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { typesByName } from '../../disruption/candidate.ts';
import type { Command } from '../../disruption/command.ts';
import { priceOf } from '../../disruption/costs.ts';
import type { Pass } from '../../disruption/method.ts';
import { isTerminating } from '../../pods/podPredicates.ts';

/** Milliseconds that consolidation rests after it has not saved what it said; twice as long after each further time. */
const FIRST_REST = 60_000;
const LONGEST_REST = 60 * 60_000;
/** Milliseconds after which what was saved can be seen. */
const PROOF = 30_000;
/** The part of the savings that must have come true. */
const KEPT_SHARE = 0.5;
/** The part of the whole bill that is worth another try at once. */
const LARGE_SHARE = 0.2;
/** More pods than before by this factor cost more by themselves. */
const GROWTH = 1.1;

interface Cost {
  readonly pricePerHour: number;
  readonly pods: number;
}

/**
 * Compares what consolidation has saved with what it said. A scheduler that puts pods elsewhere than planned makes new
 * nodes necessary: then each move is followed by another, and the bill does not fall. Such moves get rarer and rarer.
 */
export class SavingsCheck {
  private open: { readonly before: Cost; readonly since: number; readonly savings: number } | undefined;
  private rest: { readonly length: number; readonly until: number } | undefined;

  /** These commands begin, perhaps before others have ended. */
  begin(commands: readonly Command[], pass: Pass): void {
    if (commands.length === 0) return;
    const { savings: others, before, since } = this.open ?? { savings: 0, before: costOf(pass), since: pass.now };
    this.open = { before, since, savings: commands.reduce((sum, { savingsPerHour }) => sum + savingsPerHour, others) };
  }

  /** The cluster is quiet. Nodes that go count as gone and nodes that come as there: some time after a start all is said. */
  conclude(pass: Pass): void {
    if (this.open === undefined || pass.now < this.open.since + PROOF) return;
    const { before, savings } = this.open;
    const after = costOf(pass);
    this.open = undefined;
    if (after.pods > before.pods * GROWTH) return;
    if (after.pricePerHour <= before.pricePerHour - KEPT_SHARE * savings) this.rest = undefined;
    else {
      const length = this.rest === undefined ? FIRST_REST : Math.min(LONGEST_REST, 2 * this.rest.length);
      this.rest = { length, until: pass.now + length };
    }
  }

  /** Demand came back: what the cluster costs from now on tells nothing about what was saved. */
  forget(): void {
    this.open = undefined;
  }

  /** Until when these commands must wait: those that save a large part of the bill need not. */
  heldBackUntil(commands: readonly Command[], pass: Pass): number | undefined {
    if (this.rest === undefined || pass.now >= this.rest.until) return undefined;
    const savings = commands.reduce((sum, { savingsPerHour }) => sum + savingsPerHour, 0);
    return savings < LARGE_SHARE * costOf(pass).pricePerHour ? this.rest.until : undefined;
  }
}

function costOf({ views, pools }: Pass): Cost {
  let pricePerHour = 0;
  let pods = 0;
  for (const view of views) {
    if (view.claim === undefined || view.nodePool === undefined) continue;
    pods += view.pods.filter((pod) => !isTerminating(pod)).length;
    if (!view.deleting) pricePerHour += nodePrice(view, pools.get(view.nodePool));
  }
  return { pricePerHour, pods };
}

function nodePrice({ labels }: NodeView, offer: ReturnType<Pass['pools']['get']>): number {
  const type = offer && typesByName(offer.instanceTypes).get(labels[Labels.instanceType] ?? '');
  return priceOf(type, labels[Labels.zone], labels[Labels.capacityType]);
}
