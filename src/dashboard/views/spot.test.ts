import { expect, it } from 'vitest';
import { paperShop } from '../../../test/fixtures/dashboard/paperShop.ts';
import { DashboardFeed } from '../feed.ts';
import { spotScreen } from './spot.ts';

it('shows failed launches of spot instances by what was planned, whatever words the cloud chose', async () => {
  const source = paperShop();
  const fail = (nodeClaim: string, capacityType: string, message: string): void => {
    source.ledger.append({
      kind: 'launch-failure',
      nodeClaim,
      planned: { instanceType: 't4', zone: 'z1', capacityType },
      reason: 'InsufficientCapacity',
      message,
    });
  };
  fail('default-a', 'spot', 'Allocation failed.');
  fail('default-b', 'on-demand', 'Allocation failed; try a Spot VM.');
  const frame = await new DashboardFeed(source).frame();
  const shown = frame && spotScreen(frame, source.ledger).failures;
  expect(shown?.map(({ text }) => text)).toEqual([expect.stringContaining('default-a')]);
});
