import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { ArmFaults } from './armFaults.ts';
import { FAULT_KINDS, faultOrder, formatFault, parseFault, type FaultKind } from './faultKinds.ts';
import { Faults } from './faults.ts';
import { applyProfile } from './profiles.ts';

const kinds = Object.keys(FAULT_KINDS) as FaultKind[];

function newFaults(seed = 1): { faults: Faults; clock: VirtualClock } {
  const clock = new VirtualClock(0);
  return { faults: new Faults({ clock, random: new SeededRandom(seed) }), clock };
}

describe('parseFault', () => {
  it('reads back what formatFault writes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.integer({ min: 0, max: 100 }),
        fc.integer({ min: 1, max: 3600 }),
        (kind, percent, seconds) => {
          const order = faultOrder(kind, { share: percent / 100, for: seconds * 1000 });
          expect(parseFault(formatFault(order))).toEqual(order);
        },
      ),
    );
  });

  it.each([
    ['meteor', 'there is no fault "meteor"'],
    ['throttle share=2', 'throttle share: "2" is not a share from 0 to 1'],
    ['throttle for=soon', 'throttle for: "soon" is not a duration'],
    ['throttle zone=1', 'throttle does not understand "zone=1"; it understands share=…'],
  ])('refuses "%s"', (text, message) => {
    expect(() => parseFault(text)).toThrow(message);
  });
});

describe('Faults', () => {
  it('end after their duration or count, and notify subscribers', async () => {
    const { faults, clock } = newFaults();
    const heard: string[] = [];
    faults.subscribe(({ type, fault }) => heard.push(`${type} ${fault.order.kind}`));
    faults.add(parseFault('conflict for=10s'));
    faults.add(parseFault('throttle count=2'));
    expect([1, 2, 3].map(() => faults.strikes('throttle', 'x') !== undefined)).toEqual([true, true, false]);
    await clock.advance(10_000);
    expect(faults.list()).toEqual([]);
    expect(heard).toEqual([
      'began conflict',
      'began throttle',
      'struck throttle',
      'struck throttle',
      'ended throttle',
      'ended conflict',
    ]);
  });
});

const create = (
  name: string,
  size = 'Standard_D4s_v5',
  zone = '1',
  priority = 'Regular',
): Parameters<ArmFaults['before']>[0] => ({
  name: 'virtualMachines.createOrUpdate',
  resourceGroup: 'group',
  resourceName: name,
  body: {
    zones: [zone],
    properties: {
      hardwareProfile: { vmSize: size },
      priority,
      networkProfile: { networkInterfaces: [{ id: `/x/networkInterfaces/${name}` }] },
    },
  },
});

describe('ArmFaults', () => {
  const code = (fault: ReturnType<ArmFaults['before']>): string | undefined =>
    fault && 'error' in fault ? fault.error.code : undefined;

  it('strikes only instances that match', () => {
    const { faults } = newFaults();
    const arm = new ArmFaults(faults, 'eastus', () => 'standardDSv5Family');
    faults.add(parseFault('zonal-allocation zone=1 priority=spot'));
    expect(code(arm.before(create('a')))).toBeUndefined();
    expect(code(arm.before(create('a', undefined, '2', 'Spot')))).toBeUndefined();
    expect(arm.before(create('a', undefined, '1', 'Spot'))).toMatchObject({
      kind: 'failLate',
      error: { code: 'ZonalAllocationFailed' },
    });
    faults.clear();
    faults.add(parseFault('family-quota family=standardDSv5Family'));
    const refusal = arm.before(create('a'));
    expect(code(refusal)).toBe('OperationNotAllowed');
    expect(refusal && 'error' in refusal && refusal.error.message).toContain('standardDSv5Family Cores quota');
    faults.clear();
    faults.add(parseFault('throttle operation=networkInterfaces.createOrUpdate after=20s'));
    expect(code(arm.before(create('a')))).toBeUndefined();
    expect(arm.before({ ...create('a'), name: 'networkInterfaces.createOrUpdate' })).toMatchObject({
      error: { status: 429, headers: { 'retry-after': '20' } },
    });
  });

  it('reserves the interface of a failed instance for 180 s', async () => {
    const { faults, clock } = newFaults();
    const arm = new ArmFaults(faults, 'eastus', () => 'family');
    faults.add(parseFault('allocation'));
    faults.add(parseFault('nic-reserved'));
    arm.before(create('a'));
    const remove = { name: 'networkInterfaces.delete', resourceGroup: 'group', resourceName: 'a', body: undefined };
    expect(code(arm.before(remove))).toBe('NicReservedForAnotherVm');
    await clock.advance(180_000);
    expect(arm.before(remove)).toBeUndefined();
  });

  it("has Azure's rates of failure in the profile realistic", () => {
    const { faults } = newFaults(7);
    const arm = new ArmFaults(faults, 'eastus', () => 'standardDSv5Family');
    applyProfile('realistic', faults);
    const attempts = 20_000;
    const failures = new Map<string, number>();
    for (let index = 0; index < attempts; index++) {
      const found = code(arm.before(create(`m${index}`)));
      if (found !== undefined && found !== 'TooManyRequests') failures.set(found, (failures.get(found) ?? 0) + 1);
    }
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
    expect(1 - failed / attempts).toBeCloseTo(0.27, 1);
    expect((failures.get('OperationNotAllowed') ?? 0) / failed).toBeCloseTo(0.945, 1);
    const order = [...failures].sort(([, left], [, right]) => right - left).map(([name]) => name);
    expect(order).toEqual(['OperationNotAllowed', 'ZonalAllocationFailed', 'AllocationFailed', 'SkuNotAvailable']);
  });
});

describe('applyProfile', () => {
  it('adds the same faults for the same seed', async () => {
    const storm = async (seed: number): Promise<string[]> => {
      const { faults, clock } = newFaults(seed);
      const seen: string[] = [];
      faults.subscribe(({ type, fault }) => seen.push(`${clock.now()} ${type} ${formatFault(fault.order)}`));
      const end = applyProfile('stormy', faults);
      await clock.advance(6 * 3_600_000);
      end();
      return seen;
    };
    const [first, again, other] = [await storm(3), await storm(3), await storm(4)];
    expect(first).toEqual(again);
    expect(first).not.toEqual(other);
    expect(first.some((line) => line.includes('process-death'))).toBe(true);
  });
});
