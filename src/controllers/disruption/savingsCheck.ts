import { Labels } from '../../api/labels.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { typesByName } from '../../disruption/candidate.ts';
import type { Command } from '../../disruption/command.ts';
import { priceOf } from '../../disruption/costs.ts';
import type { Pass } from '../../disruption/method.ts';
import { isTerminating } from '../../pods/podPredicates.ts';

/**
 * Milliseconds for which consolidation pauses when expected savings did not happen; doubled after each further time.
 */
const FIRST_REST = 60_000;
const LONGEST_REST = 60 * 60_000;
/** Milliseconds after which savings can be measured. */
const PROOF = 30_000;
/** Share of the expected savings that must be real. */
const KEPT_SHARE = 0.5;
/** Savings above this share of the whole bill may be tried again at once. */
const LARGE_SHARE = 0.2;
/** More pods than before by this factor explain a higher cost. */
const GROWTH = 1.1;

interface Cost {
  readonly pricePerHour: number;
  readonly pods: number;
}

/**
 * Compares real savings of consolidation with the expected ones. If the scheduler places pods differently from the
 * plan, new nodes become necessary: each move causes another one, and the bill does not fall. Such moves are delayed
 * more and more.
 */
export class SavingsCheck {
  private open: { readonly before: Cost; readonly since: number; readonly savings: number } | undefined;
  private rest: { readonly length: number; readonly until: number } | undefined;

  /** Records that these commands start, possibly while others are running. */
  begin(commands: readonly Command[], pass: Pass): void {
    if (commands.length === 0) return;
    const { savings: others, before, since } = this.open ?? { savings: 0, before: costOf(pass), since: pass.now };
    this.open = { before, since, savings: commands.reduce((sum, { savingsPerHour }) => sum + savingsPerHour, others) };
  }

  /**
   * Call when the cluster is quiet. Nodes being removed count as gone and launching ones as present, so the result is
   * final some time after the start.
   */
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

  /** Demand has returned: later cost says nothing about these savings. */
  forget(): void {
    this.open = undefined;
  }

  /** Until when these commands must wait; large savings need not wait. */
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
