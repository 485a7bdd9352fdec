import { afterEach, beforeEach, expect, it } from 'vitest';
import { interceptedKube } from '../../../test/fixtures/engine/interceptedKube.ts';
import { CLASS_REF, conditionOf, poolSpec, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { silentLog, type Log } from '../../kube/log.ts';
import { nodePoolReadinessController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({ controllers: ({ world }) => [nodePoolReadinessController(world)] });
});
afterEach(() => bench.close());

async function readiness(): Promise<string> {
  await bench.clock.idle();
  const condition = conditionOf(await bench.kube.get(Kinds.NodePool, { name: 'default' }), 'NodeClassReady');
  return `${condition?.status} ${condition?.reason} ${condition?.message}`.trim();
}

async function setReady(status: string, reason: string, message: string): Promise<void> {
  const condition = { type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
  const body = { status: { conditions: [condition] } };
  await bench.kube.patch(Kinds.KWOKNodeClass, { name: 'default' }, { type: 'merge', body }, { subresource: 'status' });
}

it('follows the class of the pool', async () => {
  await bench.createPool();
  expect(await readiness()).toBe('True NodeClassReady');
  await setReady('False', 'SubnetNotFound', 'no such subnet');
  expect(await readiness()).toBe('False SubnetNotFound no such subnet');
  await setReady('Unknown', 'Waiting', 'not yet');
  expect(await readiness()).toMatch(/^False NodeClassReadinessUnknown/);
  await setReady('True', 'Ready', '');
  expect(await readiness()).toBe('True NodeClassReady');
});

it('follows a class that is being deleted, deleted and created again', async () => {
  await bench.createPool();
  const body = { metadata: { finalizers: ['example.com/hold'] } };
  await bench.kube.patch(Kinds.KWOKNodeClass, { name: 'default' }, { type: 'merge', body });
  await bench.kube.delete(Kinds.KWOKNodeClass, { name: 'default' });
  expect(await readiness()).toMatch(/^False NodeClassTerminating/);
  await bench.kube.patch(
    Kinds.KWOKNodeClass,
    { name: 'default' },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
  expect(await readiness()).toMatch(/^False NodeClassNotFound/);
  await bench.kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'default' } });
  expect(await readiness()).toBe('True NodeClassReady');
});

it('ignores pools of other providers', async () => {
  const spec = poolSpec();
  spec.template.spec.nodeClassRef = { ...CLASS_REF, group: 'other.io' };
  await bench.createPool('default', spec);
  await bench.clock.idle();
  expect((await bench.kube.get(Kinds.NodePool, { name: 'default' })).status?.conditions).toBeUndefined();
});

it('treats a pool that was deleted meanwhile as done, not as a failure', async () => {
  await bench.close();
  const failures: string[] = [];
  const record: Log = { ...silentLog, error: (message) => void failures.push(message), with: () => record };
  let late = 0;
  bench = await Workbench.start({
    controllers: ({ world }) => [nodePoolReadinessController(world)],
    log: record,
    decorate: (kube) =>
      interceptedKube(kube, {
        patch: async (kind, ref, patch, options) => {
          if (kind.kind === 'NodePool') late++;
          await kube.delete(Kinds.NodePool, ref);
          return kube.patch(kind, ref, patch, options);
        },
      }),
  });
  await bench.createPool();
  await bench.clock.idle();
  expect([late, failures]).toEqual([1, []]);
});
