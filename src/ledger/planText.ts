/** Renders a plan's result. */
import { gapText } from './choiceText.ts';
import { countText, groupedText } from './countText.ts';

const HOURS_PER_MONTH = 730;

interface PlanSummary {
  readonly pods: number;
  readonly nodes: number;
  readonly unschedulable: number;
  readonly costPerHour: number;
  readonly lowerBoundPerHour: number;
}

export function planSummaryText(summary: PlanSummary): string {
  const { pods, nodes, unschedulable, costPerHour, lowerBoundPerHour } = summary;
  if (nodes === 0) return unschedulable === 0 ? 'Nothing to place.' : 'No pod can be placed.';
  const month = groupedText(Math.round(costPerHour * HOURS_PER_MONTH));
  const above = lowerBoundPerHour > 0 ? (costPerHour / lowerBoundPerHour - 1) * 100 : 0;
  const bound =
    lowerBoundPerHour > 0
      ? ` No plan costs less than $${lowerBoundPerHour.toFixed(4)} per hour (this one: ${above.toFixed(1)} % above).`
      : '';
  return `${countText(pods, 'pod')} on ${countText(nodes, 'node')}: $${costPerHour.toFixed(4)} per hour, $${month} per month.${bound}`;
}

export function unplacedText(pods: number): string {
  return `${countText(pods, 'pod')} cannot be placed`;
}

export function mistakesText(count: number): string {
  return `${countText(count, 'mistake')} in the input`;
}

export function tooDearText(costPerHour: number, limit: number): string {
  return `$${costPerHour} per hour is above $${limit}`;
}

export function fixText(smallestChange: string): string {
  return `smallest change that helps: ${smallestChange}`;
}

interface OtherType {
  readonly instanceType: string;
  readonly because: string;
  readonly detail: string;
}

/** Why another instance type was not chosen. */
export function otherText({ instanceType, because, detail }: OtherType): string {
  return `not ${instanceType} (${because}): ${detail}`;
}

/** Title of the parts of the gap. */
export const GAP_TITLE = 'Above the lower bound:';

export function gapPartText(cause: Parameters<typeof gapText>[0], pricePerHour: number): string {
  return `$${pricePerHour.toFixed(4)} per hour: ${gapText(cause)}`;
}

export function relaxationText(relaxation: string): string {
  return `The lower bound: ${relaxation}`;
}
