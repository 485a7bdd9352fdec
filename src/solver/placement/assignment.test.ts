import { describe, expect, it } from 'vitest';
import {
  existingNode,
  placedOn,
  placementDraft,
  podAffinity,
  spreadOver,
} from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod, ZONES } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import type { Pod } from '../../api/kinds.ts';
import type { Draft } from '../draft.ts';
import { Assignment, isSequential } from './assignment.ts';

const pods = (app: string, count: number, spec: object = {}): Pod[] =>
  Array.from({ length: count }, (_, at) => testPod(`${app}-${at}`, '1', '1Gi', spec, { labels: { app } }));

/** Items as [pods, zones that their nodes may be in], and the names of unplaced pods. */
function assigned(draft: Draft): { items: [number, number][]; left: string[] } {
  const { compiled, domains, onExisting, fit, waiting } = draft;
  const assignment = new Assignment(compiled, domains, onExisting, fit);
  assignment.run(waiting, 0);
  const { states } = compiled.model;
  return {
    items: assignment.items
      .flat()
      .map(({ count, state }): [number, number] => [count, states.valuesOf(state, Labels.zone).length])
      .sort(([one], [other]) => other - one),
    left: waiting.flatMap(({ pods: left }) => left.map(({ metadata }) => metadata.name)),
  };
}

describe('assignment', () => {
  it('makes one item of the pods of a class, free to go to any zone', () => {
    expect(assigned(placementDraft(pods('web', 5)))).toEqual({ items: [[5, ZONES.length]], left: [] });
  });

  it('fills existing nodes first', () => {
    const draft = placementDraft(pods('web', 5), { nodes: [existingNode('a', 'z1', 2)] });
    expect(assigned(draft).items).toEqual([[3, ZONES.length]]);
    expect(placedOn(draft)).toEqual({ a: ['web-0', 'web-1'] });
  });

  it('divides pods that spread over zones into an item for each zone', () => {
    const draft = placementDraft(pods('web', 7, spreadOver(Labels.zone, 'web')));
    expect(assigned(draft).items).toEqual([
      [3, 1],
      [2, 1],
      [2, 1],
    ]);
  });

  it('puts pods into the zone of the pods that their affinity selects, in any order', () => {
    const beside = podAffinity('podAffinity', Labels.zone, 'zonal');
    const zonal = pods('zonal', 2, { nodeSelector: { [Labels.zone]: 'z2' } });
    for (const all of [
      [...pods('a', 3, beside), ...zonal],
      [...zonal, ...pods('z', 3, beside)],
    ]) {
      expect(assigned(placementDraft(all))).toEqual({
        items: [
          [3, 1],
          [2, 1],
        ],
        left: [],
      });
    }
  });

  it('leaves pods with hostname affinity to the exact path', () => {
    const draft = placementDraft(pods('web', 2, podAffinity('podAffinity', Labels.hostname, 'web')));
    expect(draft.compiled.classes.map(isSequential)).toEqual([true]);
    expect(assigned(draft)).toEqual({ items: [], left: ['web-0', 'web-1'] });
  });
});
