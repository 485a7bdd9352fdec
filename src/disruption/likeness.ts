import type { NodeView } from '../cluster/nodeView.ts';
import { podKind } from '../pods/podKind.ts';
import type { Candidate } from './candidate.ts';

const known = new WeakMap<NodeView, string>();

/** Key that is equal for interchangeable nodes: a what-if for one of them holds for the others. */
export function likenessOf({ view, pool, instanceType, zone, capacityType, movable }: Candidate): string {
  let likeness = known.get(view);
  if (likeness === undefined) {
    const place = [pool.metadata.name, instanceType?.name, zone, capacityType].join('/');
    const pods = movable.map((pod) => podKind(pod).kind).sort();
    known.set(view, (likeness = `${place}\n${pods.join('\n')}`));
  }
  return likeness;
}
