/**
 * The shape that the loops of the local control plane share: something changes, its key is queued, the object is read
 * from its informer and the world is made right for it.
 */
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Informer, InformerEvent } from '../kube/informer.ts';
import type { Kube } from '../kube/kube.ts';
import type { Log } from '../kube/log.ts';
import type { Controller } from '../kube/runtime/controller.ts';
import { reconciler } from '../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch, type Watch } from '../kube/runtime/watch.ts';
import { controllerOf, type ClusterInformers } from './clusterInformers.ts';
import type { ControllerEvents } from './controllerEvents.ts';

/** What everything that runs in a cluster works with. */
export interface LoopContext {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** What every part of the control plane works with. */
export interface ControlPlaneContext extends LoopContext {
  readonly informers: ClusterInformers;
  /** The events of one component; a quiet world records none. */
  readonly eventsOf: (component: string) => ControllerEvents;
}

/** Milliseconds until the object must be looked at again although nothing changed; undefined when it need not. */
export type NextLook = number | undefined | void;

export interface ControlLoop<T extends KubeObject> {
  readonly name: string;
  /** Where the objects are that the loop is about. */
  readonly of: Informer<T>;
  /** Which changes of such an object are a reason to look at it; all of them when absent. */
  readonly when?: (event: InformerEvent<T>) => boolean;
  /** Other reasons to look at objects. */
  readonly also?: readonly Watch[];
  readonly concurrency?: number;
  /** Waits a moment before each look, so that a thousand pods that start at once are one reason, not a thousand. */
  readonly gathers?: boolean;
  /** Whether objects that are being deleted are looked at, too. */
  readonly untilGone?: boolean;
  readonly reconcile: (object: T, key: string) => Promise<NextLook>;
  /** What to do when there is no such object (any more). */
  readonly gone?: (key: string) => Promise<NextLook> | NextLook;
}

const GATHER = 2;

export function controlLoop<T extends KubeObject>(context: LoopContext, loop: ControlLoop<T>): Controller {
  const { clock, random, log } = context;
  const { name, of, when, also = [], concurrency = 8, gathers = false, untilGone = false, reconcile, gone } = loop;
  return reconciler({
    name: `local.${name}`,
    concurrency,
    clock,
    random,
    log,
    watches: [watch(of, (event) => (when === undefined || when(event) ? [keyOf(event.object)] : [])), ...also],
    reconcile: async (key, { signal }) => {
      if (gathers) await clock.sleep(GATHER, signal);
      const object = of.store.get(refOf(key));
      const looks = object !== undefined && (untilGone || object.metadata.deletionTimestamp === undefined);
      const next = await (looks ? reconcile(object, key) : gone?.(key));
      return next === undefined ? undefined : { requeueAfter: Math.max(0, next) };
    },
  });
}

/** Looks at the owner of a kind when one of its objects changes. */
export function watchOwned<T extends KubeObject>(informer: Informer<T>, owner: ResourceKind<KubeObject>): Watch {
  return watch(informer, ({ object }) => {
    const reference = controllerOf(object);
    return reference?.kind === owner.kind ? [`${object.metadata.namespace ?? ''}/${reference.name}`] : [];
  });
}

/** The earliest of some looks. */
export function soonest(...waits: readonly NextLook[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}
