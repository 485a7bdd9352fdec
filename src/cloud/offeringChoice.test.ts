import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, Labels } from '../api/labels.ts';
import type { TypeView } from './cloudProvider.ts';
import type { InstanceType, Offering } from './instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { parseResources } from '../units/resources.ts';
import { chooseOffering, purchaseFor, type Purchase } from './offeringChoice.ts';

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

const choose = (wanted: NodeClaim, types: readonly InstanceType[], view?: TypeView): Purchase | undefined =>
  chooseOffering({ claim: wanted, ...(view && { view }) }, types).purchase;

describe('chooseOffering', () => {
  it('spreads a fleet over zones that cost the same', () => {
    const counts = new Map<string, number>(ZONES.map((zone) => [zone, 0]));
    for (let index = 0; index < 300; index++) {
      const zone =
        chooseOffering({ claim: claim(`default-${index.toString(36)}`) }, [type('a', 1)]).purchase?.offering.zone ?? '';
      counts.set(zone, (counts.get(zone) ?? 0) + 1);
    }
    for (const count of counts.values()) expect(count).toBeGreaterThan(60);
  });

  it('gives a claim the same answer again', () => {
    const types = [type('a', 1), type('b', 1), type('c', 0.9)];
    const first = choose(claim('default-x7k2p'), types);
    expect(first?.type.name).toBe('c');
    expect(choose(claim('default-x7k2p'), types.toReversed())?.offering.zone).toBe(first?.offering.zone);
  });

  it('uses the prices and resources of the view, and buys the original type', () => {
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
    expect(choose(needy, types)).toBeUndefined();
    for (const asked of [claim('y'), needy]) expect(choose(asked, types, cheaper)?.type).toBe(types[1]);
  });

  it('says what each stage removed when nothing is left', () => {
    const { spec } = claim('x');
    const requirements: NodeClaim['spec']['requirements'] = [
      { key: Labels.zone, operator: 'In', values: ['eastus-1', 'eastus-2'] },
    ];
    const large: NodeClaim = { ...claim('x'), spec: { ...spec, requirements, resources: { requests: { cpu: '3' } } } };
    const small = { ...type('small', 1), allocatable: parseResources({ cpu: '2' }) };
    const soldOut = type('sold-out', 1);
    const offerings = soldOut.offerings.map((offering) => ({ ...offering, available: false }));
    const types = [small, { ...soldOut, offerings }];
    expect(chooseOffering({ claim: large }, types)).toEqual({
      purchase: undefined,
      offered: 6,
      removed: { requirements: 1, availability: 2, resources: 3 },
    });
    expect(() => purchaseFor({ claim: large }, types)).toThrow(
      /of 6 offerings, requirements excluded 1, availability excluded 2, resources excluded 3/,
    );
  });

  it('follows the order of the plan, and uses the price where the plan has no preference', () => {
    const annotations = { [Annotations.plannedOfferings]: 'b/eastus-3/on-demand,b/eastus-1/on-demand,junk' };
    const planned: NodeClaim = { ...claim('x'), metadata: { name: 'x', annotations } };
    const types = [type('a', 1), type('b', 2)];
    const bought: string[] = [];
    const taken = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const left = types.map((each) => ({
        ...each,
        offerings: each.offerings.map((offering) => ({
          ...offering,
          available: !taken.has(`${each.name}/${offering.zone}`),
        })),
      }));
      const found = choose(planned, left);
      const key = `${found?.type.name}/${found?.offering.zone}`;
      taken.add(key);
      bought.push(key);
    }
    expect(bought.slice(0, 2)).toEqual(['b/eastus-3', 'b/eastus-1']);
    expect(bought[2]).toMatch(/^a\//);
  });

  it('prefers spot, and a zone to none, at the same price', () => {
    const offering = (zone: string, capacityType: 'spot' | 'on-demand'): Offering => ({
      zone,
      capacityType,
      price: 1,
      available: true,
      requirements: Requirements.of(Requirement.of(Labels.placementScope, 'In', [zone === '0' ? 'regional' : 'zonal'])),
    });
    const offerings = [
      offering('0', 'on-demand'),
      offering('eastus-1', 'on-demand'),
      offering('0', 'spot'),
      offering('eastus-1', 'spot'),
    ];
    const order: string[] = [];
    for (let left = offerings; left.length > 0;) {
      const found = choose(claim('x'), [{ ...type('a', 1), offerings: left }])?.offering;
      order.push(`${found?.capacityType} ${found?.zone}`);
      left = left.filter((each) => each !== found);
    }
    expect(order).toEqual(['spot eastus-1', 'spot 0', 'on-demand eastus-1', 'on-demand 0']);
  });
});
