import { expect, it } from 'vitest';
import { Kinds } from '../api/kinds.ts';
import type { KubeObject } from '../api/object.ts';
import { kindKey } from './clusterObjects.ts';
import { HashedNames } from './hashedNames.ts';

it('hash the name of a node everywhere, including its CSINode and attachments', () => {
  const name = 'aks-secret-1';
  const node: KubeObject = { metadata: { name } };
  const csiNode = { metadata: { name }, spec: { drivers: [{ name: 'disk.csi.azure.com', nodeID: name }] } };
  const attachment = { metadata: { name: 'csi-1' }, spec: { attacher: 'disk.csi.azure.com', nodeName: name } };
  const pool: KubeObject = { metadata: { name: 'default' } };
  const all = new Map<string, readonly KubeObject[]>([
    [kindKey(Kinds.CSINode), [csiNode]],
    [kindKey(Kinds.VolumeAttachment), [attachment]],
    [kindKey(Kinds.Node), [node]],
    [kindKey(Kinds.NodePool), [pool]],
  ]);
  const names = new HashedNames();
  for (const [key, objects] of all) names.learn(key, objects);
  const renamed = [...all].map(([key, objects]) => names.renamed(key, objects));
  expect(JSON.stringify(renamed)).not.toContain(name);
  const [[ofDisks], , [ofNode], [ofPool]] = renamed as [KubeObject[], KubeObject[], KubeObject[], KubeObject[]];
  expect(ofDisks?.metadata.name).toBe(ofNode?.metadata.name);
  expect(ofPool?.metadata.name).toBe('default');
});

it('hash the names of containers and volumes, and find the claim of an ephemeral volume again', () => {
  const pod: KubeObject & { readonly spec: object } = {
    metadata: { name: 'payroll-1', namespace: 'acme' },
    spec: {
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      containers: [{ name: 'linux' }],
      initContainers: [{ name: 'acme-setup' }],
      volumes: [{ name: 'acme-scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } }],
    },
  };
  const claim: KubeObject = { metadata: { name: 'payroll-1-acme-scratch', namespace: 'acme' } };
  const names = new HashedNames();
  names.learn(kindKey(Kinds.PersistentVolumeClaim), [claim]);
  names.learn(kindKey(Kinds.Pod), [pod]);
  const [renamed] = names.renamed(kindKey(Kinds.Pod), [pod]);
  const [renamedClaim] = names.renamed(kindKey(Kinds.PersistentVolumeClaim), [claim]);
  expect(JSON.stringify([renamed, renamedClaim])).not.toMatch(/acme|payroll/);
  expect(renamed?.spec).toMatchObject({ nodeSelector: { 'kubernetes.io/os': 'linux' } });
  const [, volume] = /"volumes":\[\{"name":"(n-[0-9a-f]{12})"/.exec(JSON.stringify(renamed)) ?? [];
  expect(renamedClaim?.metadata.name).toBe(`${renamed?.metadata.name}-${volume}`);
});
