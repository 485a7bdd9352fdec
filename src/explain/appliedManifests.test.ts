import { expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import type { Patch } from '../ledger/explanation.ts';
import { appliedManifests } from './appliedManifests.ts';

const target = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
const identity = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } };
const merge = (patch: Patch['patch']): Patch => ({ target, type: 'merge', patch });

function manifestsOf(patches: readonly Patch[], fields: object = {}, applied?: object) {
  const annotations = applied && { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(applied) };
  const object = { ...fields, metadata: { ...identity.metadata, ...(annotations && { annotations }) } } as KubeObject;
  return appliedManifests({ sentence: 'x', patches }, async () => object);
}

it('keeps what was applied last, and sets removed fields to null', async () => {
  const applied = { ...identity, spec: { replicas: 2, paused: true } };
  const patches = [merge({ spec: { paused: null } })];
  expect(await manifestsOf(patches, {}, applied)).toEqual([{ ...applied, spec: { replicas: 2, paused: null } }]);
  expect(await manifestsOf(patches)).toEqual([{ ...identity, spec: { paused: null } }]);
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
