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
