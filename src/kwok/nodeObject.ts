import type { Node } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels, Taints } from '../api/labels.ts';
import type { Purchase } from '../cloud/offeringChoice.ts';
import type { Requirements } from '../constraints/requirements.ts';
import type { Draft } from '../kube/kube.ts';
import { formatResources } from '../units/resources.ts';
import { FAKE, KwokLabels, PROVIDER_PREFIX } from './kwokLabels.ts';

/** Deterministic per claim, so that a repeated launch finds its earlier result. */
export function nodeName({ metadata }: NodeClaim): string {
  return `kwok-${metadata.name}-${hash(metadata.uid ?? '')}`;
}

/** Labels determined by type and offering. */
export function instanceLabels({ type, offering }: Purchase): Record<string, string> {
  return { ...singleValues(type.requirements), ...singleValues(offering.requirements) };
}

export function nodeOf(claim: NodeClaim, purchase: Purchase): Draft<Node> {
  const name = nodeName(claim);
  const { type, offering } = purchase;
  const settled: Record<string, string> = {};
  for (const { key, operator, values = [] } of claim.spec.requirements) {
    const [only] = values;
    if (operator === 'In' && values.length === 1 && only !== undefined) settled[key] = only;
  }
  return {
    metadata: {
      name,
      labels: {
        ...settled,
        ...claim.metadata.labels,
        ...instanceLabels(purchase),
        [Labels.hostname]: claim.metadata.name,
        [KwokLabels.node]: FAKE,
        [KwokLabels.partition]: 'a',
        [KwokLabels.price]: String(offering.price),
      },
      annotations: { ...claim.metadata.annotations, [KwokLabels.node]: FAKE },
    },
    spec: { providerID: `${PROVIDER_PREFIX}${name}`, taints: [Taints.unregistered] },
    status: {
      capacity: formatResources(type.capacity),
      allocatable: formatResources(type.allocatable),
      phase: 'Pending',
    },
  };
}

function singleValues(requirements: Requirements): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const requirement of requirements) {
    const [item] = requirement.toItems();
    const [only] = item?.values ?? [];
    if (item?.operator === 'In' && item.values?.length === 1 && only !== undefined) labels[requirement.key] = only;
  }
  return labels;
}

/** FNV-1a, eight hexadecimal digits. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return value.toString(16).padStart(8, '0');
}
