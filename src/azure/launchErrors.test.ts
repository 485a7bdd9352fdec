import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { Offering } from '../cloud/instanceType.ts';
import { Requirements } from '../constraints/requirements.ts';
import { describeFailure, interpretLaunchFailure } from './launchErrors.ts';
import { CAPACITY_TYPES, zonesOf } from '../catalogue/offerings.ts';
import { parseSizeName } from '../catalogue/sizeName.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import { UnavailableOfferings } from './unavailableOfferings.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function skuNamed(name: string): Sku {
  const size = parseSizeName(name);
  if (size === undefined) throw new Error(name);
  return {
    name,
    size,
    family: 'standardDSv5Family',
    cpus: size.cpus,
    memoryGiB: size.cpus * 4,
    gpus: 0,
    architecture: 'amd64',
    hyperVGenerations: ['2'],
    acceleratedNetworking: true,
    premiumStorage: true,
    spotCapable: true,
    encryptionAtHost: true,
    trustedLaunch: true,
    ephemeralDisk: undefined,
    zones: ['1', '2'],
    ultraSsdZones: new Set(),
    restricted: false,
  };
}

const SMALL = skuNamed('Standard_D4s_v5');
const MIDDLE = skuNamed('Standard_D8s_v5');
const LARGE = skuNamed('Standard_D16s_v5');

function offeringIn(zone: string, capacityType: Offering['capacityType'] = 'on-demand'): Offering {
  return { zone, capacityType, price: 1, available: true, requirements: Requirements.empty };
}

/** Which of the size's offerings are blocked, such as `on-demand eastus-1`. */
function blocked(unavailable: UnavailableOfferings, sku: Sku): string[] {
  return zonesOf(sku, 'eastus').flatMap((zone) =>
    CAPACITY_TYPES.filter((type) => unavailable.isUnavailable(sku, zone, type)).map((type) => `${type} ${zone}`),
  );
}

describe('a failed launch', () => {
  const quota = (text: string): object => ({ code: 'OperationNotAllowed', message: text });
  it.each<[string, object, string, string | undefined, string[], number]>([
    [
      'family quota',
      quota('exceeding approved Total standardDSv5Family Cores quota. Family Cores quota … Current Limit: 100'),
      'eastus-1',
      'SubscriptionQuotaReached',
      ['on-demand eastus-1', 'on-demand eastus-2', 'on-demand 0'],
      10 * MINUTE,
    ],
    [
      'family quota of zero',
      quota('Family Cores quota, Current Limit: 0, Current Usage: 0'),
      'eastus-1',
      'SubscriptionQuotaReached',
      ['on-demand eastus-1', 'on-demand eastus-2', 'on-demand 0'],
      HOUR,
    ],
    [
      'a size that is not available',
      { code: 'SkuNotAvailable', message: 'no' },
      'eastus-1',
      'SKUNotAvailable',
      ['on-demand eastus-1', 'on-demand eastus-2'],
      23 * HOUR,
    ],
    [
      'a full zone',
      { code: 'ZonalAllocationFailed', message: 'no' },
      'eastus-1',
      'ZonalAllocationFailure',
      ['on-demand eastus-1', 'spot eastus-1'],
      HOUR,
    ],
    [
      'a full region',
      { code: 'AllocationFailed', message: 'no' },
      '0',
      'AllocationFailure',
      ['on-demand 0', 'spot 0'],
      HOUR,
    ],
    [
      'too many conditions in a zone',
      { code: 'OverconstrainedZonalAllocationRequest', message: 'no' },
      'eastus-2',
      'OverconstrainedZonalAllocationFailure',
      ['on-demand eastus-2'],
      HOUR,
    ],
    [
      'too many conditions',
      { code: 'OverconstrainedAllocationRequest', message: 'no' },
      'eastus-2',
      'OverconstrainedAllocationFailure',
      ['on-demand eastus-1', 'on-demand eastus-2'],
      HOUR,
    ],
    [
      'regional quota',
      quota('exceeding approved Total Regional Cores quota. Current Limit: 10'),
      'eastus-1',
      undefined,
      [],
      1,
    ],
    ['anything else', { code: 'Weird', message: 'no' }, 'eastus-1', 'CreateInstanceFailed', [], 1],
  ])('%s', async (_name, error, zone, reason, expected, duration) => {
    const clock = new VirtualClock(0);
    const unavailable = new UnavailableOfferings(clock);
    const attempt = { sku: MIDDLE, offering: offeringIn(zone), location: 'eastus', isAksMachine: false };
    const result = interpretLaunchFailure(error, attempt, unavailable);
    const name = reason === undefined ? 'InsufficientCapacityError' : 'LaunchError';
    expect({ name: result.name, reason: (result as { reason?: string }).reason }).toEqual({ name, reason });
    expect(blocked(unavailable, MIDDLE)).toEqual(expected);
    expect(blocked(unavailable, LARGE)).toEqual(expected);
    expect(blocked(unavailable, SMALL)).toEqual([]);
    await clock.advance(duration - 1);
    expect(blocked(unavailable, MIDDLE)).toEqual(expected);
    await clock.advance(1);
    expect(blocked(unavailable, MIDDLE)).toEqual([]);
  });

  const everywhere = [
    'on-demand eastus-1',
    'spot eastus-1',
    'on-demand eastus-2',
    'spot eastus-2',
    'on-demand 0',
    'spot 0',
  ];
  const unsupported = { code: 'BadRequest', message: "size 'x' is not supported for subscription s in location 'l'." };
  it.each<[string, object, Offering, boolean, string, string[], number]>([
    [
      'spot that is not available',
      { code: 'SkuNotAvailable', message: 'no' },
      offeringIn('eastus-1', 'spot'),
      false,
      'SKUNotAvailable',
      ['spot eastus-1', 'spot eastus-2'],
      HOUR,
    ],
    [
      'a size that is not available without a zone',
      { code: 'SkuNotAvailable', message: 'no' },
      offeringIn('0'),
      false,
      'SKUNotAvailable',
      ['on-demand 0'],
      23 * HOUR,
    ],
    [
      'no room without a zone',
      { code: 'AllocationFailed', message: 'no' },
      offeringIn('0', 'spot'),
      false,
      'AllocationFailure',
      ['on-demand 0', 'spot 0'],
      HOUR,
    ],
    [
      'family quota of spot',
      quota('Family Cores quota, Current Limit: 0, Current Usage: 0'),
      offeringIn('eastus-2', 'spot'),
      false,
      'SubscriptionQuotaReached',
      ['spot eastus-1', 'spot eastus-2', 'spot 0'],
      HOUR,
    ],
    [
      'a size that AKS does not support',
      { code: 'VMSizeNotSupported', message: 'no' },
      offeringIn('eastus-1'),
      true,
      'SKUNotAvailable',
      everywhere,
      23 * HOUR,
    ],
    [
      'a size that AKS does not support here',
      unsupported,
      offeringIn('0', 'spot'),
      true,
      'SKUNotAvailable',
      everywhere,
      23 * HOUR,
    ],
    ['the same said of a VM', unsupported, offeringIn('eastus-1'), false, 'CreateInstanceFailed', [], 1],
    [
      'another bad request',
      { code: 'BadRequest', message: 'no' },
      offeringIn('eastus-1'),
      true,
      'CreateInstanceFailed',
      [],
      1,
    ],
  ])('%s', async (_name, error, offering, isAksMachine, reason, expected, duration) => {
    const clock = new VirtualClock(0);
    const unavailable = new UnavailableOfferings(clock);
    const attempt = { sku: MIDDLE, offering, location: 'eastus', isAksMachine };
    expect(interpretLaunchFailure(error, attempt, unavailable)).toMatchObject({ reason });
    expect(blocked(unavailable, LARGE)).toEqual(expected);
    await clock.advance(duration - 1);
    expect(blocked(unavailable, MIDDLE)).toEqual(expected);
    await clock.advance(1);
    expect(blocked(unavailable, MIDDLE)).toEqual([]);
  });

  it('changes its sequence number when a block ends', async () => {
    const clock = new VirtualClock(0);
    const unavailable = new UnavailableOfferings(clock);
    unavailable.mark(MIDDLE, 'eastus-1', 'on-demand', HOUR);
    const before = unavailable.sequence;
    await clock.advance(HOUR - 1);
    expect(unavailable.sequence).toBe(before);
    await clock.advance(1);
    expect(unavailable.sequence).toBeGreaterThan(before);
  });

  it('blocks all spot when its quota is used up', () => {
    const unavailable = new UnavailableOfferings(new VirtualClock(0));
    const attempt = { sku: MIDDLE, offering: offeringIn('eastus-1', 'spot'), location: 'eastus', isAksMachine: false };
    interpretLaunchFailure(quota('LowPriorityCores quota'), attempt, unavailable);
    expect(blocked(unavailable, SMALL)).toEqual(['spot eastus-1', 'spot eastus-2', 'spot 0']);
  });

  it('finds the code of an operation that failed late in the text of the error', () => {
    const error = new Error('The long-running operation has failed. ZonalAllocationFailed. No room in zone 1.');
    expect(describeFailure(error)).toEqual({
      code: 'ZonalAllocationFailed',
      message: 'No room in zone 1.',
      statusCode: undefined,
    });
  });

  it('keeps the lowest vCPU count of a family that failed', () => {
    const unavailable = new UnavailableOfferings(new VirtualClock(0));
    unavailable.mark(LARGE, 'eastus-1', 'on-demand', HOUR);
    expect(blocked(unavailable, MIDDLE)).toEqual([]);
    unavailable.mark(SMALL, 'eastus-1', 'on-demand', HOUR);
    unavailable.mark(LARGE, 'eastus-1', 'on-demand', HOUR);
    expect(blocked(unavailable, MIDDLE)).toEqual(['on-demand eastus-1']);
  });

  it('forgets the vCPU count of a block that is over', async () => {
    const clock = new VirtualClock(0);
    const unavailable = new UnavailableOfferings(clock);
    unavailable.mark(SMALL, 'eastus-1', 'on-demand', HOUR);
    await clock.advance(2 * HOUR);
    unavailable.mark(LARGE, 'eastus-1', 'on-demand', HOUR);
    expect(blocked(unavailable, MIDDLE)).toEqual([]);
    expect(blocked(unavailable, LARGE)).toEqual(['on-demand eastus-1']);
  });
});
