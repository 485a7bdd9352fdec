/**
 * The common form of the local control plane's loops: an object changes, its key is queued, the object is read from
 * its informer and reconciled.
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

/** Dependencies of everything that runs in a cluster. */
export interface LoopContext {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Dependencies of every part of the control plane. */
export interface ControlPlaneContext extends LoopContext {
  readonly informers: ClusterInformers;
  /** Returns the event recorder of one component; in a quiet world it records nothing. */
  readonly eventsOf: (component: string) => ControllerEvents;
}

/** Milliseconds until the object must be reconciled again without a change; undefined if it need not be. */
export type NextLook = number | undefined | void;

export interface ControlLoop<T extends KubeObject> {
  readonly name: string;
  /** Informer of the objects to reconcile. */
  readonly of: Informer<T>;
  /** Selects the changes after which an object is reconciled; all by default. */
  readonly when?: (event: InformerEvent<T>) => boolean;
  /** Watches of other objects whose changes queue keys. */
  readonly also?: readonly Watch[];
  readonly concurrency?: number;
  /** Waits a moment before each reconcile, so that a thousand pods that start at once cause one, not a thousand. */
  readonly gathers?: boolean;
  /** Whether objects that are being deleted are reconciled too. */
  readonly untilGone?: boolean;
  readonly reconcile: (object: T, key: string) => Promise<NextLook>;
  /** Called instead of `reconcile` when the object does not exist, or is being deleted without `untilGone`. */
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

/** Queues the controller owner, if it is of the given kind, when one of its objects changes. */
export function watchOwned<T extends KubeObject>(informer: Informer<T>, owner: ResourceKind<KubeObject>): Watch {
  return watch(informer, ({ object }) => {
    const reference = controllerOf(object);
    return reference?.kind === owner.kind ? [`${object.metadata.namespace ?? ''}/${reference.name}`] : [];
  });
}

/** Returns the shortest wait; undefined if there is none. */
export function soonest(...waits: readonly NextLook[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}
