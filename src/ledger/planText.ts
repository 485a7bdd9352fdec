/** A plan's result in sentences. */
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

export function tooDearText(costPerHour: number, limit: number): string {
  return `$${costPerHour} per hour is above $${limit}`;
}
