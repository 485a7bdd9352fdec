/**
 * A solution as the documented JSON of `plan`: nodes with their pods and alternatives, unplaced pods with reasons, the
 * price and the lower bound.
 */
import { InvariantError } from '../errors/invariantError.ts';
import type { Alternative, GapPart, PlannedNode, Solution } from '../solver/problem.ts';
import { boundText } from '../ledger/boundText.ts';
import { changeText } from '../ledger/changeText.ts';
import { rejectedTypeText } from '../ledger/choiceText.ts';
import { reasonLines } from '../ledger/reasonText.ts';

export interface PlanReport {
  readonly nodes: readonly PlannedNodeReport[];
  readonly unschedulable: readonly UnschedulableReport[];
  readonly costPerHour: number;
  readonly lowerBoundPerHour: number;
  readonly gap: readonly GapPart[];
  readonly solveMillis: number;
  /** With `--explain`: what the lower bound ignores. */
  readonly relaxation?: string;
}

export interface PlannedNodeReport extends OfferingReport {
  readonly nodePool: string;
  /** `namespace/name`. */
  readonly pods: readonly string[];
  /** The next-cheapest offerings that hold the same pods. */
  readonly alternatives: readonly OfferingReport[];
  readonly why?: WhyReport;
}

interface OfferingReport {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly pricePerHour: number;
}

export interface UnschedulableReport {
  readonly pod: string;
  readonly reasons: readonly string[];
  readonly smallestFix: string | null;
}

interface WhyReport {
  /** The pod without which a cheaper instance type would suffice. */
  readonly boundBy: string | null;
  readonly boundByResource: string | null;
  readonly others: readonly { readonly instanceType: string; readonly because: string; readonly detail: string }[];
}

const SHOWN_ALTERNATIVES = 10;
const SHOWN_OTHERS = 3;

export function planReport(solution: Solution, solveMillis: number, explain: boolean): PlanReport {
  return {
    nodes: solution.plannedNodes.map((node) => nodeReport(node, explain)),
    unschedulable: solution.unplaced.map(({ pod, reason }) => ({
      pod,
      reasons: reasonLines(reason),
      smallestFix:
        reason.kind === 'refused' && reason.smallestChange !== undefined ? changeText(reason.smallestChange) : null,
    })),
    costPerHour: dollars(solution.pricePerHour),
    lowerBoundPerHour: dollars(solution.lowerBound.pricePerHour),
    gap: solution.lowerBound.gap.map((part) => ({ ...part, pricePerHour: dollars(part.pricePerHour) })),
    solveMillis: Math.round(solveMillis),
    ...(explain ? { relaxation: boundText(solution.lowerBound.proof) } : {}),
  };
}

function nodeReport(node: PlannedNode, explain: boolean): PlannedNodeReport {
  const [chosen] = node.alternatives;
  if (chosen === undefined) throw new InvariantError('a planned node has no offering');
  const { boundBy, boundByResource, others = [] } = node.choice ?? {};
  return {
    nodePool: node.pool,
    ...offering(chosen),
    pods: node.pods,
    alternatives: otherOfferings(node.alternatives),
    ...(explain
      ? {
          why: {
            boundBy: boundBy ?? null,
            boundByResource: boundByResource ?? null,
            others: others.slice(0, SHOWN_OTHERS).map((other) => ({
              instanceType: other.instanceType,
              because: other.because,
              detail: rejectedTypeText(other),
            })),
          },
        }
      : {}),
  };
}

/** One per type and capacity type, in the solver's order, without the chosen one. */
function otherOfferings(alternatives: readonly Alternative[]): OfferingReport[] {
  const seen = new Set<string>();
  const others: OfferingReport[] = [];
  for (const alternative of alternatives) {
    const key = `${alternative.instanceType} ${alternative.capacityType}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size > 1) others.push(offering(alternative));
    if (others.length === SHOWN_ALTERNATIVES) break;
  }
  return others;
}

function offering({ instanceType, zone, capacityType, pricePerHour }: Alternative): OfferingReport {
  return { instanceType, zone, capacityType, pricePerHour: dollars(pricePerHour) };
}

/** Azure prints six digits; binary fractions would print more. */
function dollars(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
