import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels } from '../api/labels.ts';
import type { TypeView } from '../cloud/cloudProvider.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { parseResources } from '../units/resources.ts';
import { chooseOffering } from './offeringChoice.ts';

const ZONES = ['eastus-1', 'eastus-2', 'eastus-3'];

function type(name: string, price: number): InstanceType {
  const room = parseResources({ cpu: '4', memory: '8Gi', pods: '30' });
  const offerings = ZONES.map((zone) => ({
    requirements: Requirements.of(Requirement.of(Labels.zone, 'In', [zone])),
    zone,
    capacityType: 'on-demand' as const,
    price,
    available: true,
  }));
  return { name, requirements: Requirements.empty, offerings, capacity: room, allocatable: room };
}

const claim = (name: string): NodeClaim => ({
  metadata: { name },
  spec: {
    nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
    requirements: [],
    expireAfter: 'Never',
  },
});

describe('chooseOffering', () => {
  it('spreads a fleet over zones that cost the same', () => {
    const counts = new Map<string, number>(ZONES.map((zone) => [zone, 0]));
    for (let index = 0; index < 300; index++) {
      const zone = chooseOffering(claim(`default-${index.toString(36)}`), [type('a', 1)])?.offering.zone ?? '';
      counts.set(zone, (counts.get(zone) ?? 0) + 1);
    }
    for (const count of counts.values()) expect(count).toBeGreaterThan(60);
  });

  it('gives a claim the same answer again', () => {
    const types = [type('a', 1), type('b', 1), type('c', 0.9)];
    const first = chooseOffering(claim('default-x7k2p'), types);
    expect(first?.type.name).toBe('c');
    expect(chooseOffering(claim('default-x7k2p'), types.toReversed())?.offering.zone).toBe(first?.offering.zone);
  });

  it('goes by the prices and resources that it is shown, and buys the type itself', () => {
    const types = [type('a', 1), type('b', 2)];
    const cheaper: TypeView = (all) =>
      all.map((each) =>
        each.name === 'b'
          ? {
              ...each,
              offerings: each.offerings.map((offering) => ({ ...offering, price: 0.5 })),
              allocatable: { ...each.allocatable, ...parseResources({ 'example.com/widget': 2 }) },
            }
          : each,
      );
    const requests = { 'example.com/widget': '1' };
    const needy: NodeClaim = { ...claim('x'), spec: { ...claim('x').spec, resources: { requests } } };
    expect(chooseOffering(needy, types)).toBeUndefined();
    for (const asked of [claim('y'), needy]) expect(chooseOffering(asked, types, cheaper)?.type).toBe(types[1]);
  });

  it('says so when nothing fits', () => {
    const large: NodeClaim = { ...claim('x'), spec: { ...claim('x').spec, resources: { requests: { cpu: '5' } } } };
    expect(chooseOffering(large, [type('a', 1)])).toBeUndefined();
  });
});
