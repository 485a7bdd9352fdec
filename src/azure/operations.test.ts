import { expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import { beginOperation, finishOperation } from './operations.ts';

it('gives up an operation that does not end, and names the resource', async () => {
  const clock = new VirtualClock(0);
  const poller = { poll: async () => undefined, isDone: false, result: undefined };
  const operation = await beginOperation(async () => ({ poller }));
  const outcome = finishOperation(clock, operation, 'VM aks-a').catch((error: unknown) => error);
  await clock.advance(31 * 60_000);
  expect(await outcome).toMatchObject({
    code: 'AzureOperationTimeout',
    message: 'VM aks-a: Azure has not ended the operation on it in 30 minutes',
  });
});
