import { expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import type { Patch } from '../ledger/explanation.ts';
import { appliedManifests } from './appliedManifests.ts';

const target = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
const identity = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } };
const merge = (patch: Patch['patch']): Patch => ({ target, type: 'merge', patch });

function manifestsOf(patches: readonly Patch[], fields: object = {}, applied?: object | string) {
  const text = typeof applied === 'string' ? applied : JSON.stringify(applied);
  const annotations = applied !== undefined && { 'kubectl.kubernetes.io/last-applied-configuration': text };
  const object = { ...fields, metadata: { ...identity.metadata, ...(annotations && { annotations }) } } as KubeObject;
  return appliedManifests({ sentence: 'x', patches }, async () => object);
}

it('keeps what was applied last, and sets removed fields to null', async () => {
  const applied = { ...identity, spec: { replicas: 2, paused: true } };
  const patches = [merge({ spec: { paused: null } })];
  expect(await manifestsOf(patches, applied, applied)).toEqual([{ ...applied, spec: { replicas: 2, paused: null } }]);
  expect(await manifestsOf(patches)).toEqual([{ ...identity, spec: { paused: null } }]);
});

it('keeps what was changed since the manifest was applied', async () => {
  const applied = { ...identity, spec: { replicas: 2, paused: true, selector: { app: 'a' } } };
  const now = { ...identity, spec: { replicas: 5, selector: { app: 'a', tier: 'b' }, revisionHistoryLimit: 10 } };
  expect(await manifestsOf([merge({ spec: { minReadySeconds: 3 } })], now, applied)).toEqual([
    { ...identity, spec: { replicas: 5, selector: { app: 'a' }, minReadySeconds: 3 } },
  ]);
});

it.each(['', '{"spec":', 'null', '[]'])('does without a last applied manifest that is %j', async (applied) => {
  expect(await manifestsOf([merge({ spec: { replicas: 3 } })], {}, applied)).toEqual([
    { ...identity, spec: { replicas: 3 } },
  ]);
});

it('first applies lists unchanged, so that entries can be removed', async () => {
  const manifests = await manifestsOf([merge({ spec: { list: ['a'] } })], { spec: { list: ['a', 'b'], other: 1 } });
  expect(manifests?.map((each) => each['spec'])).toEqual([{ list: ['a', 'b'] }, { list: ['a'] }]);
});

it('has separate steps where an object changes twice', async () => {
  const manifests = await manifestsOf([
    merge({ spec: { replicas: 0, paused: false } }),
    merge({ spec: { replicas: 3 } }),
  ]);
  expect(manifests?.map((each) => each['spec'])).toEqual([
    { replicas: 0, paused: false },
    { replicas: 3, paused: false },
  ]);
});

it('has none for deletions', async () => {
  expect(await manifestsOf([{ target, type: 'delete', patch: {} }])).toBeUndefined();
});
