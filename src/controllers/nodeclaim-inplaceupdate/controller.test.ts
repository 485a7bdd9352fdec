import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations } from '../../api/labels.ts';
import { nodeClaimInPlaceUpdateController } from './controller.ts';

const AKS_REF = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'c' };
const hashFor = (_claim: NodeClaim, { spec }: AksNodeClass): string => JSON.stringify(spec?.tags ?? {});

let bench: Workbench;
/** Names of claims whose instances were changed. */
let applied: string[];
beforeEach(async () => {
  applied = [];
  bench = await Workbench.start({
    controllers: ({ world, informers }) => [
      nodeClaimInPlaceUpdateController(world, informers.of(Kinds.AKSNodeClass), {
        hashFor,
        isCurrent: (claim, nodeClass) =>
          claim.metadata.annotations?.[Annotations.inPlaceUpdateHash] === hashFor(claim, nodeClass),
        apply: async ({ metadata }) => {
          applied.push(metadata.name);
        },
      }),
    ],
  });
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128, tags: { team: 'a' } },
  });
});
afterEach(() => bench.close());

const hashOf = async (name: string): Promise<string | undefined> =>
  (await bench.claim(name)).metadata.annotations?.[Annotations.inPlaceUpdateHash];

async function register(name: string): Promise<void> {
  const claim = await bench.claim(name);
  const condition = {
    type: 'Registered',
    status: 'True' as const,
    reason: 'Registered',
    message: '',
    lastTransitionTime: new Date(bench.clock.now()).toISOString(),
  };
  const status = { ...claim.status, providerID: `azure:///${name}`, conditions: [condition] };
  await bench.kube.replace(Kinds.NodeClaim, { ...claim, status }, { subresource: 'status' });
}

it('changes instances whose tags differ from the class, once they have joined, and notes it on the claim', async () => {
  const annotations = { [Annotations.inPlaceUpdateHash]: '{"team":"a"}' };
  await bench.createClaim('current', { nodeClassRef: AKS_REF }, { annotations });
  await bench.createClaim('old', { nodeClassRef: AKS_REF });
  await bench.createClaim('foreign', { nodeClassRef: { ...AKS_REF, kind: 'OtherClass' } });
  await bench.clock.idle();
  expect(applied).toEqual([]);
  await register('old');
  await register('current');
  await bench.clock.advance(61_000);
  expect(applied).toEqual(['old']);
  expect(await hashOf('old')).toBe('{"team":"a"}');
  const body = { spec: { tags: { team: 'b' } } };
  await bench.kube.patch(Kinds.AKSNodeClass, { name: 'c' }, { type: 'merge', body });
  await bench.clock.idle();
  expect(applied.sort()).toEqual(['current', 'old', 'old']);
  expect(await hashOf('current')).toBe('{"team":"b"}');
  expect(await hashOf('foreign')).toBeUndefined();
});
