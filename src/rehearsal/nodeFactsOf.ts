/** Facts about a node, derived from the current cluster. */
import { Annotations, Labels } from '../api/labels.ts';
import { parsePlannedOfferings } from '../cloud/plannedOfferings.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { plannedPodCount } from '../cluster/plannedKinds.ts';
import { typesByName } from '../disruption/candidate.ts';
import { priceOf } from '../disruption/costs.ts';
import type { Pass } from '../disruption/method.ts';
import type { NodeFacts } from '../ledger/nodeFacts.ts';
import { isReschedulable } from '../pods/podPredicates.ts';
import { formatResources } from '../units/resources.ts';
import type { Rehearsal } from './rehearse.ts';

export const HOURS_PER_MONTH = 730;

/** Today's price of an offering in dollars per hour; undefined when unknown. */
function offeringPrice(
  { pools }: Pick<Pass, 'pools'>,
  pool: string | undefined,
  offering: { readonly instanceType?: string; readonly zone?: string; readonly capacityType?: string },
): number | undefined {
  const types = pools.get(pool ?? '')?.instanceTypes;
  const type = types && typesByName(types).get(offering.instanceType ?? '');
  const price = priceOf(type, offering.zone, offering.capacityType);
  return price === 0 ? undefined : price;
}

/** Dollars per hour of a managed node. */
export function nodePrice(pass: Pick<Pass, 'pools'>, { labels, nodePool }: NodeView): number | undefined {
  return offeringPrice(pass, nodePool, placeOf(labels));
}

function placeOf(labels: NodeView['labels']) {
  const instanceType = labels[Labels.instanceType];
  const zone = labels[Labels.zone];
  const capacityType = labels[Labels.capacityType];
  return {
    ...(instanceType !== undefined && { instanceType }),
    ...(zone !== undefined && { zone }),
    ...(capacityType !== undefined && { capacityType }),
  };
}

export function nodeFactsOf({ pass, moment }: Rehearsal, view: NodeView): NodeFacts {
  const { claim, nodePool, labels } = view;
  const price = nodePrice(pass, view);
  const annotations = claim?.metadata.annotations ?? {};
  const pods = view.pods.filter(isReschedulable);
  const everyNode = new Set(pass.views.map(({ name }) => name));
  const today =
    pods.length === 0
      ? undefined
      : moment.ask({ pods, withoutNodes: everyNode }, { explainChoices: true, reservedCapacity: 'Fallback' });
  const [only, ...others] = today?.plannedNodes ?? [];
  const { creationTimestamp: boughtAt } = claim?.metadata ?? {};
  const replaces = (annotations[Annotations.replaces] ?? '').split(',').filter((name) => name !== '');
  return {
    ...(nodePool !== undefined && { nodePool }),
    ...(claim && { nodeClaim: claim.metadata.name }),
    ...placeOf(labels),
    ...(price !== undefined && { pricePerHour: price, pricePerMonth: price * HOURS_PER_MONTH }),
    ...(boughtAt !== undefined && { boughtAt }),
    replaces,
    boughtForPods: claim === undefined ? 0 : plannedPodCount(claim),
    offerings: (claim === undefined ? [] : parsePlannedOfferings(claim)).map((each) => {
      const pricePerHour = offeringPrice(pass, nodePool, each);
      return { ...each, ...(pricePerHour !== undefined && { pricePerHour }) };
    }),
    pods: pods.length,
    requested: formatResources(view.requested),
    allocatable: formatResources(view.allocatable),
    ...(only !== undefined && {
      today: {
        nodes: [only, ...others].flatMap(({ alternatives }) => alternatives.slice(0, 1)),
        ...(others.length === 0 && only.choice && { choice: only.choice }),
      },
    }),
  };
}
