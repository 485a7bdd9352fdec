import { expect, it } from 'vitest';
import type { Node } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels } from '../api/labels.ts';
import { formatResources } from '../units/resources.ts';
import { LearnedAllocatable, type NodeBuild } from './learnedAllocatable.ts';

const IMAGE = '/CommunityGalleries/AKSUbuntu-1/images/2404gen2containerd/versions/202610.15.0';
const BUILD: NodeBuild = { instanceType: 'Standard_D4s_v5', imageId: IMAGE, maxPods: 250, osDiskBytes: 128e9 };

const claim = (imageID: string = IMAGE, pods = '250'): NodeClaim => ({
  metadata: { name: 'c' },
  spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, requirements: [], expireAfter: 'Never' },
  status: {
    imageID,
    capacity: { cpu: '4', memory: '16Gi', pods, 'ephemeral-storage': '128G' },
    allocatable: { cpu: '3860m', memory: '11Gi', pods, 'ephemeral-storage': '115200M' },
  },
});

const node = (name: string, memory: string, more: Readonly<Record<string, string>> = {}): Node => ({
  metadata: { name, labels: { [Labels.instanceType]: BUILD.instanceType, [Labels.initialized]: 'true', ...more } },
  status: { allocatable: { cpu: '3860m', memory, 'ephemeral-storage': '119703055367' } },
});

const memoryOf = (learned: LearnedAllocatable, build: NodeBuild = BUILD): string | undefined => {
  const room = learned.find(build);
  return room && formatResources(room)['memory'];
};

it('uses the least value of existing nodes, and keeps what it learned from the last one', () => {
  const learned = new LearnedAllocatable();
  expect(memoryOf(learned)).toBeUndefined();
  learned.learn(claim(), node('a', '12600Mi'));
  learned.learn(claim(), node('b', '12500Mi'));
  const { generation } = learned;
  learned.learn(claim(), node('b', '12500Mi'));
  expect(learned.generation).toBe(generation);
  expect(memoryOf(learned)).toBe('12500Mi');
  learned.forget('b');
  expect(memoryOf(learned)).toBe('12600Mi');
  learned.forget('a');
  expect(memoryOf(learned)).toBe('12600Mi');
  expect(learned.list()).toMatchObject([{ build: BUILD, nodes: 0 }]);
});

it('keeps builds apart, and knows an image by both of its names', () => {
  const learned = new LearnedAllocatable();
  learned.learn(claim('AKSUbuntu-2404gen2containerd-202610.15.0'), node('a', '12600Mi'));
  expect(memoryOf(learned)).toBe('12600Mi');
  expect(memoryOf(learned, { ...BUILD, imageId: IMAGE.replace('202610', '202611') })).toBeUndefined();
  expect(memoryOf(learned, { ...BUILD, maxPods: 30 })).toBeUndefined();
  expect(memoryOf(learned, { ...BUILD, osDiskBytes: 64e9 })).toBeUndefined();
});

it('learns nothing from nodes that are not ready, broken or unknown', () => {
  const learned = new LearnedAllocatable();
  learned.learn(claim(), node('young', '12600Mi', { [Labels.initialized]: 'false' }));
  learned.learn(claim(), node('broken', '2Gi'));
  learned.learn(claim(''), node('unknown', '12600Mi'));
  expect([memoryOf(learned), learned.generation]).toEqual([undefined, 0]);
});
