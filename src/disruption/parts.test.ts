import { expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import type { Solution } from '../solver/problem.ts';
import type { Candidate } from './candidate.ts';
import { partsOf } from './parts.ts';

const NOTHING: Solution = {
  onExisting: [],
  plannedNodes: [],
  unplaced: [],
  pricePerHour: 0,
  lowerBound: { pricePerHour: 0, proof: 'none', gap: [] },
  searchRounds: 0,
};

/** Nodes `a`, `b` and `c` with two pods each: `a1`, `a2` and so on. */
function candidates(): readonly Candidate[] {
  const paper = new PaperCluster();
  paper.addPool([testType('node', 10, 100, 1)]);
  for (const name of ['a', 'b', 'c'])
    paper.addNode({ name, type: 'node', pods: ['1', '2'].map((at) => paperPod(name + at)) });
  return paper.pass().pass.candidates;
}

const planned = (...pods: string[]) =>
  ({ pods: pods.map((pod) => `default/${pod}`) }) as unknown as Solution['plannedNodes'][number];
const onNode = (node: string, ...pods: string[]) => ({ node, pods: pods.map((pod) => `default/${pod}`) });
const refused = (pod: string) => ({
  pod: `default/${pod}`,
  reason: { kind: 'refused' as const, pools: [], nodes: [] },
});

const told = (solution: Partial<Solution>) =>
  partsOf(candidates(), { ...NOTHING, ...solution }).map(({ candidates: own, onExisting, plannedNodes, unplaced }) => ({
    nodes: own.map(({ view }) => view.name).join(),
    onExisting: onExisting.map(({ node, pods }) => `${node}: ${pods.join()}`),
    planned: plannedNodes.map(({ pods }) => pods.join()),
    unplaced: unplaced.map(({ pod }) => pod),
  }));

it('keeps nodes together when their pods share a new node, and the others separate', () => {
  const parts = told({
    plannedNodes: [planned('a1', 'c1')],
    onExisting: [onNode('x', 'a2', 'b1', 'c2'), onNode('y', 'b2')],
  });
  expect(parts).toEqual([
    { nodes: 'a,c', onExisting: ['x: default/a2,default/c2'], planned: ['default/a1,default/c1'], unplaced: [] },
    { nodes: 'b', onExisting: ['x: default/b1', 'y: default/b2'], planned: [], unplaced: [] },
  ]);
});

it('assigns pods without a place to the part of their node', () => {
  const parts = told({ unplaced: [refused('b1')], onExisting: [onNode('x', 'a1', 'a2', 'b2', 'c1', 'c2')] });
  expect(parts.map(({ nodes, unplaced }) => [nodes, unplaced])).toEqual([
    ['a', []],
    ['b', ['default/b1']],
    ['c', []],
  ]);
});

it('keeps all together when a waiting pod has lost its room', () => {
  const parts = told({ plannedNodes: [planned('waiting'), planned('a1')], onExisting: [onNode('x', 'b1', 'other')] });
  expect(parts).toEqual([
    { nodes: 'a,b,c', onExisting: ['x: default/b1'], planned: ['default/waiting', 'default/a1'], unplaced: [] },
  ]);
});

it('leaves out waiting pods that have a place', () => {
  const parts = told({ onExisting: [onNode('x', 'waiting', 'a1'), onNode('y', 'other')] });
  expect(parts.flatMap(({ onExisting }) => onExisting)).toEqual(['x: default/a1']);
});
