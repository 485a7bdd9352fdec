/**
 * A solution as people and programs read it. In: the solver's answer. Out: the documented JSON: nodes with their pods
 * and what else would do, pods without a place with reasons, the price, and what no plan can beat.
 */
import type { Alternative, GapPart, PlannedNode, Solution } from '../solver/problem.ts';
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
  /** With `--explain`: what the lower bound leaves out of account. */
  readonly relaxation?: string;
}

export interface PlannedNodeReport extends MachineReport {
  readonly nodePool: string;
  /** `namespace/name`. */
  readonly pods: readonly string[];
  /** The next-cheapest machines that hold the same pods. */
  readonly alternatives: readonly MachineReport[];
  readonly why?: WhyReport;
}

interface MachineReport {
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
  /** The pod without which a cheaper machine would do. */
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
    ...(explain ? { relaxation: solution.lowerBound.relaxation } : {}),
  };
}

function nodeReport(node: PlannedNode, explain: boolean): PlannedNodeReport {
  const [chosen] = node.alternatives;
  if (chosen === undefined) throw new Error('A planned node has no machine.');
  const { boundBy, boundByResource, others } = node.choice;
  return {
    nodePool: node.pool,
    ...machine(chosen),
    pods: node.pods,
    alternatives: otherMachines(node.alternatives),
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

/** One for each type and way to pay, in the solver's order, without the chosen one. */
function otherMachines(alternatives: readonly Alternative[]): MachineReport[] {
  const seen = new Set<string>();
  const distinct = alternatives.filter(({ instanceType, capacityType }) => {
    const key = `${instanceType} ${capacityType}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
  return distinct.slice(1, SHOWN_ALTERNATIVES + 1).map(machine);
}

function machine({ instanceType, zone, capacityType, pricePerHour }: Alternative): MachineReport {
  return { instanceType, zone, capacityType, pricePerHour: dollars(pricePerHour) };
}

/** Six digits are what Azure prints; binary fractions would print more. */
function dollars(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
