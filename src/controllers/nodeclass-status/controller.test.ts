import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds, type ConfigMap } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import { Finalizers } from '../../api/labels.ts';
import type { ControlPlane, NodeClassResult } from '../../azure/nodeClass.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { recordText } from '../../ledger/recordText.ts';
import { nodeClassStatusController } from './controller.ts';

let bench: Workbench;
let ledger: Ledger;
let asked: number;
let seen: ConfigMap | undefined;
let result: NodeClassResult;

beforeEach(async () => {
  asked = 0;
  result = { status: { kubernetesVersion: '1.36.3' }, previews: [], requeueAfter: 60_000, errors: [] };
  const resolver = {
    windowRef: { namespace: 'kube-system', name: 'upcoming-maintenance-window' },
    forget: () => undefined,
    reconcileStatus: async (_nodeClass: AksNodeClass, controlPlane: ControlPlane) => {
      seen = controlPlane.maintenanceWindow();
      asked++;
      return result;
    },
  };
  bench = await Workbench.start({
    controllers: ({ world, informers }) => {
      ({ ledger } = world);
      return [nodeClassStatusController(world, informers, resolver)];
    },
  });
});
afterEach(() => bench.close());

const nodeClass = () => bench.kube.get(Kinds.AKSNodeClass, { name: 'c' });

it('adds the finalizer, writes the resolved status, and reconciles again when the result asks for it', async () => {
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
  await bench.clock.idle();
  expect((await nodeClass()).metadata.finalizers).toEqual([Finalizers.nodeClassTermination]);
  expect((await nodeClass()).status?.kubernetesVersion).toBe('1.36.3');
  const before = asked;
  await bench.advance(59_000);
  expect(asked).toBe(before);
  result = { ...result, status: { kubernetesVersion: '1.37.0' } };
  await bench.advance(2_000);
  expect((await nodeClass()).status?.kubernetesVersion).toBe('1.37.0');
});

it('writes what it could resolve, and retries soon after a failure', async () => {
  result = { ...result, errors: [new Error('ARM is slow')] };
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
  await bench.clock.idle();
  expect((await nodeClass()).status?.kubernetesVersion).toBe('1.36.3');
  const before = asked;
  await bench.advance(5_000);
  expect(asked).toBeGreaterThan(before);
});

it('reconciles its classes when AKS writes another maintenance window, and ignores other ConfigMaps', async () => {
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
  await bench.clock.idle();
  expect(seen).toBeUndefined();
  const before = asked;
  const write = (name: string) =>
    bench.kube.create(Kinds.ConfigMap, { metadata: { namespace: 'kube-system', name }, data: { name } });
  await write('other');
  await bench.clock.idle();
  expect(asked).toBe(before);
  await write('upcoming-maintenance-window');
  await bench.clock.idle();
  expect(asked).toBeGreaterThan(before);
  expect(seen?.data).toEqual({ name: 'upcoming-maintenance-window' });
});

it('leaves a class that is being deleted alone', async () => {
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c', finalizers: ['example.com/hold'] },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
  await bench.clock.idle();
  await bench.kube.delete(Kinds.AKSNodeClass, { name: 'c' });
  await bench.clock.idle();
  const before = asked;
  await bench.advance(600_000);
  expect(asked).toBe(before);
});

it('records once which nodes new images would drift, before they apply and again when they do', async () => {
  const image = (version: string) => ({ id: `/images/2404gen2containerd/versions/${version}`, requirements: [] });
  const said = () =>
    ledger
      .entries()
      .filter(({ kind }) => kind === 'images')
      .map((entry) => recordText(entry).replace('AKSNodeClass c ', ''));
  result = { ...result, status: { images: [image('1')] } };
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
  await bench.clock.idle();
  const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'c' };
  const claim = await bench.kube.create(Kinds.NodeClaim, {
    metadata: { name: 'a' },
    spec: { nodeClassRef, requirements: [], resources: {}, expireAfter: 'Never' },
  });
  await bench.kube.replace(
    Kinds.NodeClaim,
    { ...claim, status: { imageID: image('1').id } },
    { subresource: 'status' },
  );
  result = {
    ...result,
    previews: [
      { when: 'window', images: [image('3')] },
      { when: 'pinned', version: '2', images: [image('2')] },
      { when: 'pinned', version: '0', images: [] },
    ],
  };
  await bench.advance(61_000);
  await bench.advance(61_000);
  result = { ...result, status: { images: [image('3')] }, previews: [] };
  await bench.advance(61_000);
  expect(said()).toEqual([
    'boots image 1; 0 of 0 NodeClaims drift',
    'will boot image 3 instead of 1 when its maintenance window opens; 1 of 1 NodeClaim will drift then',
    'would boot image 2 instead of 1 if it were pinned to it; 1 of 1 NodeClaim would drift',
    'cannot be pinned to image 0: Azure publishes none for it',
    'boots image 3 instead of 1; 1 of 1 NodeClaim drift',
  ]);
});
