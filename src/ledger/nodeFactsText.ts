import { amountText } from './amountText.ts';
import { choiceText } from './choiceText.ts';
import { countText, groupedText } from './countText.ts';
import type { NodeFacts } from './nodeFacts.ts';

const NAMED = 4;

/** The facts as lines: what was bought and why, what it costs, what its pods would need today. */
export function nodeFactsLines(facts: NodeFacts): readonly string[] {
  return [boughtText(facts), ...ladderText(facts), costText(facts), usageText(facts), ...todayText(facts)];
}

function boughtText({ nodePool, boughtAt, replaces, boughtForPods }: NodeFacts): string {
  const forWhat =
    replaces.length > 0
      ? ` in place of ${replaces.slice(0, NAMED).join(', ')}`
      : boughtForPods > 0
        ? ` for ${countText(boughtForPods, 'pod')} that had no place`
        : '';
  return `bought${boughtAt === undefined ? '' : ` at ${boughtAt}`} from NodePool "${nodePool ?? ''}"${forWhat}`;
}

/** Why this instance type and zone: the offerings in the plan's order, cheapest first. */
function ladderText({ offerings, instanceType, zone, capacityType }: NodeFacts): readonly string[] {
  if (offerings.length === 0) return [];
  const wanted = offerings.slice(0, NAMED).map((each) => {
    const price = each.pricePerHour === undefined ? '' : ` at $${each.pricePerHour.toFixed(4)} per hour`;
    return `${placeText(each)} ${each.capacityType}${price}`;
  });
  const rank = offerings.findIndex(
    (each) => each.instanceType === instanceType && each.zone === zone && each.capacityType === capacityType,
  );
  const got =
    rank === 0 ? 'the first was bought' : rank > 0 ? `number ${rank + 1} was bought` : 'none of these was bought';
  return [`the plan wanted, best first: ${wanted.join('; ')}; ${got}`];
}

/** In Azure, a node without a zone is in zone 0. */
const placeText = ({ instanceType, zone }: { readonly instanceType: string; readonly zone: string }): string =>
  `${instanceType} ${zone === '0' ? 'without a zone' : `in ${zone}`}`;

function costText({ instanceType = '', zone = '', capacityType = '', pricePerHour, pricePerMonth }: NodeFacts): string {
  const what = `${placeText({ instanceType, zone })}, ${capacityType}`;
  if (pricePerHour === undefined || pricePerMonth === undefined) return `${what}: its price is not known`;
  return `${what}: $${pricePerHour.toFixed(4)} per hour, $${groupedText(Math.round(pricePerMonth))} per month`;
}

function usageText({ pods, requested, allocatable }: NodeFacts): string {
  const shares = ['cpu', 'memory'].flatMap((resource) => {
    const [asked, has] = [requested[resource], allocatable[resource]];
    return has === undefined
      ? []
      : [`${amountText({ resource, amount: asked ?? '0' })} of ${amountText({ resource, amount: has })}`];
  });
  return `${countText(pods, 'pod')} to move, all pods request ${shares.join(' and ')}`;
}

function todayText({ today, pricePerHour }: NodeFacts): readonly string[] {
  if (today === undefined || today.nodes.length === 0) return [];
  const nodes = today.nodes.map((each) => `${placeText(each)} ${each.capacityType}`);
  const price = today.nodes.reduce((sum, each) => sum + each.pricePerHour, 0);
  const than =
    pricePerHour === undefined || Math.abs(price - pricePerHour) < 1e-6
      ? ''
      : `, $${Math.abs(price - pricePerHour).toFixed(4)} ${price < pricePerHour ? 'less' : 'more'}`;
  const why = today.choice === undefined ? '' : `; ${choiceText(today.choice)}`;
  return [
    `bought today for its pods alone: ${nodes.slice(0, NAMED).join('; ')} at $${price.toFixed(4)} per hour${than}${why}`,
  ];
}
