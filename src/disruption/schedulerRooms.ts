/** Free room on nodes as kube-scheduler counts it, for pods placed one by one. */
import type { Pod } from '../api/kinds.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { roomScore, shareUsed } from '../pods/nodeScore.ts';
import { isTolerated } from '../pods/taints.ts';
import { quantityOf } from '../units/resources.ts';
import { toLoad, type Load } from './podValues.ts';

/** A node's room as the scheduler counts it. */
export interface Room {
  readonly allocatable: Load;
  readonly used: Load;
  /** How many more pods it accepts. */
  readonly pods: number;
  readonly taints: NodeView['taints'];
}

/** Rooms by index. Placed pods change only this object. */
export class SchedulerRooms {
  private readonly taints: readonly NodeView['taints'][];
  private readonly allCpu: Float64Array;
  private readonly allMemory: Float64Array;
  private readonly cpu: Float64Array;
  private readonly memory: Float64Array;
  private readonly pods: Float64Array;

  constructor(rooms: readonly Room[]) {
    this.taints = rooms.map(({ taints }) => taints);
    this.allCpu = Float64Array.from(rooms, ({ allocatable }) => allocatable[0]);
    this.allMemory = Float64Array.from(rooms, ({ allocatable }) => allocatable[1]);
    this.cpu = Float64Array.from(rooms, ({ used }) => used[0]);
    this.memory = Float64Array.from(rooms, ({ used }) => used[1]);
    this.pods = Float64Array.from(rooms, ({ pods }) => pods);
  }

  close(place: number): void {
    this.pods[place] = 0;
  }

  put(place: number, [cpu, memory]: Load): void {
    this.cpu[place] = (this.cpu[place] ?? 0) + cpu;
    this.memory[place] = (this.memory[place] ?? 0) + memory;
    this.pods[place] = (this.pods[place] ?? 0) - 1;
  }

  /** Whether at least `count` rooms without taints, excluding `except`, could each hold the load. */
  has(count: number, load: Load, except: ReadonlySet<number>): boolean {
    let found = 0;
    for (let place = 0; place < this.cpu.length && found < count; place++) {
      if (this.holds(place, load) && this.taints[place]?.length === 0 && !except.has(place)) found += 1;
    }
    return found >= count;
  }

  /** The room with the scheduler's highest score for the pod; undefined when none holds it. */
  best(pod: Pod, load: Load): number | undefined {
    let best: number | undefined;
    let highest = -1;
    for (let place = 0; place < this.cpu.length; place++) {
      if (!this.holds(place, load)) continue;
      const score = roomScore({
        cpu: shareUsed(this.cpu[place] ?? 0, load[0], this.allCpu[place] ?? 0),
        memory: shareUsed(this.memory[place] ?? 0, load[1], this.allMemory[place] ?? 0),
      });
      if (score <= highest) continue;
      if (!(this.taints[place] ?? []).every((taint) => isTolerated(taint, pod.spec?.tolerations))) continue;
      highest = score;
      best = place;
    }
    return best;
  }

  private holds(place: number, [cpu, memory]: Load): boolean {
    return (
      (this.pods[place] ?? 0) >= 1 &&
      (this.cpu[place] ?? 0) + cpu <= (this.allCpu[place] ?? 0) &&
      (this.memory[place] ?? 0) + memory <= (this.allMemory[place] ?? 0)
    );
  }
}

/** Rooms of existing nodes at one moment. */
export interface PresentRooms {
  readonly all: readonly Room[];
  /** By the name of the node. */
  readonly places: ReadonlyMap<string, number>;
  /** Never modified. */
  readonly untouched: SchedulerRooms;
}

const present = new WeakMap<readonly NodeView[], PresentRooms>();

export function presentRooms(views: readonly NodeView[]): PresentRooms {
  let known = present.get(views);
  if (known === undefined) {
    const open = views.filter(({ deleting, initialized }) => initialized && !deleting);
    const all = open.map(roomOf);
    const places = new Map(open.map(({ name }, place) => [name, place]));
    present.set(views, (known = { all, places, untouched: new SchedulerRooms(all) }));
  }
  return known;
}

const rooms = new WeakMap<NodeView, Room>();

function roomOf(view: NodeView): Room {
  let room = rooms.get(view);
  if (room === undefined) {
    const { allocatable, requested, taints } = view;
    const pods = quantityOf(allocatable, 'pods').value() - view.pods.length;
    rooms.set(view, (room = { allocatable: toLoad(allocatable), used: toLoad(requested), pods, taints }));
  }
  return room;
}
