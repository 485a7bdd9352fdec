import { Kinds, type Pod } from '../../api/kinds.ts';
import { isDaemonPod, isTerminal, isTerminating } from '../../pods/podPredicates.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { timestamp } from '../../units/timestamp.ts';
import type { World } from '../world/world.ts';

/** Minimum milliseconds between two stamps on one claim. */
const RESOLUTION = 10_000;

/**
 * Stamps each NodeClaim with the last time a pod was bound to or left its node; `consolidateAfter` counts from there.
 * Pods that exist when the process starts do not count: a restart is no pod event.
 */
export function nodeClaimPodEventsController(world: World): Controller {
  const { informers, clock, kube, cluster } = world;
  const startedAt = clock.now();
  return reconciler({
    ...world,
    name: 'nodeclaim.podevents',
    concurrency: 10,
    watches: [
      watch(informers.pods, (event) => {
        const node = cluster.node(event.object.spec?.nodeName ?? '');
        const claim = node && cluster.claimByProviderID(node.spec?.providerID);
        return claim && isMove(event, startedAt) ? [claim.metadata.name] : [];
      }),
    ],
    reconcile: async (name) => {
      const claim = cluster.claim(name);
      if (!claim) return;
      const last = Date.parse(claim.status?.lastPodEventTime ?? '');
      if (clock.now() - last < RESOLUTION) return;
      const status = { ...claim.status, lastPodEventTime: timestamp(clock.now()) };
      await ignoreNotFound(patchStatus(kube, Kinds.NodeClaim, claim, { ...claim, status }));
    },
  });
}

/** Bound, ended, or being deleted. */
function isMove(event: InformerEvent<Pod>, startedAt: number): boolean {
  const { object: pod } = event;
  if (!pod.spec?.nodeName || isDaemonPod(pod)) return false;
  if (event.type === 'deleted') return true;
  if (event.type === 'added') return boundAt(pod) >= startedAt;
  const { old } = event;
  return (
    old.spec?.nodeName !== pod.spec.nodeName ||
    isTerminal(old) !== isTerminal(pod) ||
    isTerminating(old) !== isTerminating(pod)
  );
}

function boundAt(pod: Pod): number {
  const scheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'True');
  return Date.parse(scheduled?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '');
}
