import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { silentLog, type Log, type LogFields } from '../../kube/log.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodePoolReadinessController } from '../nodepool-readiness/controller.ts';
import { nodePoolValidationController } from '../nodepool-validation/controller.ts';
import { Batcher } from '../provisioner/batcher.ts';
import { Planner } from './planner.ts';
import { provisionerControllers } from '../provisioner/controller.ts';

let bench: Workbench;
let ledger: Ledger | undefined;
let logged: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
const recordingLog: Log = {
  ...silentLog,
  info: (message, fields) => logged.push({ message, fields }),
  with: () => recordingLog,
};

beforeEach(async () => {
  logged = [];
  bench = await Workbench.start({
    pace: { boot: 10_000, ready: 10_000 },
    log: recordingLog,
    controllers: ({ world }) => {
      ({ ledger } = world);
      return [
        ...provisionerControllers(world, {
          batcher: new Batcher({ clock: world.clock, idle: 1_000, max: 10_000 }),
          nominationPeriod: 600_000,
          planner: new Planner(world),
        }),
        nodeClaimLifecycleController(world),
        nodePoolReadinessController(world),
        nodePoolValidationController(world),
      ];
    },
  });
});
afterEach(() => bench.close());

const sized = (cpu: string) => ({ containers: [{ name: 'main', image: 'app', resources: { requests: { cpu } } }] });

describe('a pod whose node is launching', () => {
  it('is not planned for again, however long that takes', async () => {
    await bench.createPool();
    await bench.createPod('p', sized('1'));
    bench.cloud.joins = false;
    await bench.advance(4 * 60_000);
    expect(await bench.claims()).toHaveLength(1);
  });

  it('is planned for at once when other pods have taken its room', async () => {
    await bench.createPool();
    await bench.createPod('p', sized('1500m'));
    await bench.advance(13_000);
    const [node] = await bench.nodes();
    // Bound without the scheduler, as static pods and impatient users do.
    await bench.createPod('intruder', { ...sized('1'), nodeName: node?.metadata.name ?? '' });
    await bench.advance(30_000);
    expect(await bench.claims()).toHaveLength(2);
    await bench.advance(60_000);
    expect((await bench.pods()).every(({ status }) => status?.phase === 'Running')).toBe(true);
    expect(await bench.claims()).toHaveLength(2);
  });
});

describe('a NodePool', () => {
  it('that is created later takes pending pods without waiting for their backoff', async () => {
    await bench.createPod('p', sized('1'));
    await bench.advance(3_000);
    await bench.createPool();
    await bench.advance(1_500);
    expect(await bench.claims()).toHaveLength(1);
  });

  it('that is missing is reported in an event, a record and one log line', async () => {
    await bench.createPod('p', sized('1'));
    await bench.advance(35_000);
    const events = await bench.events('FailedScheduling');
    expect(events.map(({ message }) => message)).toEqual(['Failed to schedule pod, no NodePool is ready']);
    expect(ledger?.aboutPod('default/p')[0]).toMatchObject({ kind: 'refusal', reason: { kind: 'no-pools' } });
    expect(logged.filter(({ message }) => message === 'could not schedule pods')).toEqual([
      { message: 'could not schedule pods', fields: { pods: 1, such: 'default/p', reason: 'no NodePool is ready' } },
    ]);
  });
});
