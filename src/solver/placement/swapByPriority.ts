/**
 * Swaps pods by priority in a finished plan, so that no pod waits while an equivalent pod of lower priority has a
 * place. Pods with the same equivalence key have the same requests and rules, so a swap breaks no rule.
 */
import type { Pod } from '../../api/kinds.ts';
import type { PodClass } from '../model/podClass.ts';
import { itemAt } from '../rows.ts';
import type { PendingPods } from './assignment.ts';
import type { OpenNode } from './openNode.ts';

interface Seat {
  readonly priority: number;
  readonly pod: Pod;
  take(pod: Pod): void;
}

export function swapByPriority(
  waiting: readonly PendingPods[],
  planned: readonly OpenNode[],
  onExisting: ReadonlyMap<number, Pod[]>,
  classes: readonly PodClass[],
): void {
  const open = waiting.filter(({ pods }) => pods.length > 0);
  if (open.length === 0 || new Set(classes.map(({ shape }) => shape.priority)).size < 2) return;
  const wanted = new Set(open.map(({ podClass }) => podClass.equivalenceKey));
  const seats = findSeats(wanted, planned, onExisting, classes);
  for (const { podClass, pods } of open.toSorted(
    (left, right) => right.podClass.shape.priority - left.podClass.shape.priority,
  )) {
    const lesser = seats.get(podClass.equivalenceKey) ?? [];
    for (let at = 0; at < pods.length; at++) {
      const seat = lesser.at(-1);
      if (seat === undefined || seat.priority >= podClass.shape.priority) break;
      lesser.pop();
      seat.take(itemAt(pods, at));
      pods[at] = seat.pod;
    }
  }
}

/** By equivalence key: placed pods, lowest priority last. */
function findSeats(
  wanted: ReadonlySet<string>,
  planned: readonly OpenNode[],
  onExisting: ReadonlyMap<number, Pod[]>,
  classes: readonly PodClass[],
): Map<string, Seat[]> {
  const seats = new Map<string, Seat[]>();
  const add = (equivalenceKey: string, seat: Seat): void => {
    const known = seats.get(equivalenceKey);
    if (known === undefined) seats.set(equivalenceKey, [seat]);
    else known.push(seat);
  };
  for (const { entries } of planned) {
    entries.forEach(({ podClass }, index) => {
      if (!wanted.has(podClass.equivalenceKey)) return;
      itemAt(entries, index).pods.forEach((pod, at) =>
        add(podClass.equivalenceKey, {
          pod,
          priority: podClass.shape.priority,
          take: (other) => {
            const entry = itemAt(entries, index);
            entries[index] = { ...entry, pods: entry.pods.with(at, other) };
          },
        }),
      );
    });
  }
  const classOf = new Map<Pod, PodClass>();
  for (const podClass of classes)
    if (wanted.has(podClass.equivalenceKey)) for (const pod of podClass.pods) classOf.set(pod, podClass);
  for (const pods of onExisting.values()) {
    pods.forEach((pod, at) => {
      const podClass = classOf.get(pod);
      if (podClass === undefined) return;
      add(podClass.equivalenceKey, { pod, priority: podClass.shape.priority, take: (other) => (pods[at] = other) });
    });
  }
  for (const list of seats.values()) list.sort((left, right) => right.priority - left.priority);
  return seats;
}
