import { describe, expect, it } from 'vitest';
import {
  existingNode,
  offer,
  placedOn,
  placementDraft,
  plannedNodes,
  searchMode,
  SMALL,
} from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import type { Pod } from '../../api/kinds.ts';
import type { Draft } from '../draft.ts';
import { placeExactly } from '../placeExactly.ts';
import type { Snapshot } from '../problem.ts';
import { swapByPriority } from './swapByPriority.ts';

const pod = (name: string, priority: number, cpu = '1'): Pod => testPod(name, cpu, '1Gi', { priority });

/** Places lower priorities first, then swaps. */
function swapped(pods: readonly Pod[], world: Partial<Snapshot>): Draft {
  const mode = searchMode({ rank: ({ shape }) => shape.priority });
  const draft = placementDraft(pods, world, mode);
  placeExactly(draft, mode, () => true, Number.POSITIVE_INFINITY);
  const { waiting, planned, onExisting, compiled } = draft;
  swapByPriority(waiting, planned, onExisting.placed, compiled.classes);
  return draft;
}

const waiting = (draft: Draft): string[] =>
  draft.waiting.flatMap(({ pods }) => pods.map(({ metadata }) => metadata.name));

describe('swapping by priority', () => {
  it('gives the place of an equal pod of the lowest priority on an existing node to one that waits', () => {
    const nodes = [existingNode('a', 'z1', 2)];
    const draft = swapped([pod('low', 0), pod('middle', 5), pod('high', 10)], { nodes, pools: [] });
    expect(placedOn(draft)).toEqual({ a: ['high', 'middle'] });
    expect(waiting(draft)).toEqual(['low']);
  });

  it('does so on planned nodes', () => {
    const pools = [offer('p', [SMALL], {}, { limits: { cpu: '2' } })];
    const draft = swapped([pod('low', 0), pod('high', 10)], { pools });
    expect(plannedNodes(draft)).toEqual([['small', ['high']]]);
    expect(waiting(draft)).toEqual(['low']);
  });

  it('leaves pods of the same priority, and pods that ask for something else', () => {
    const nodes = [existingNode('a', 'z1', 1)];
    const same = swapped([pod('first', 5), pod('second', 5)], { nodes, pools: [] });
    expect([placedOn(same), waiting(same)]).toEqual([{ a: ['first'] }, ['second']]);
    const other = swapped([pod('low', 0), pod('high', 10, '900m')], { nodes, pools: [] });
    expect([placedOn(other), waiting(other)]).toEqual([{ a: ['low'] }, ['high']]);
  });
});
