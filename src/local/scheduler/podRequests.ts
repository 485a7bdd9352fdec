import type { Pod } from '../../api/kinds.ts';
import { Quantity } from '../../units/quantity.ts';
import { addResources, maxResources, noResources, parseResources, type Resources } from '../../units/resources.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];

const requestsOf = (container: Container): Resources => parseResources(container.resources?.requests);

/**
 * What a pod takes from its node, as the Kubernetes documentation computes it: init containers run one after another,
 * but those with restartPolicy Always stay and add to everything after them. One pod slot is part of it.
 */
export function podRequests(pod: Pod): Resources {
  const { spec } = pod;
  if (!spec) return noResources;
  let requests = known.get(spec);
  if (requests === undefined) known.set(spec, (requests = compute(pod, spec)));
  return requests;
}

/** A spec never changes; asking again is for free. */
const known = new WeakMap<object, Resources>();

function compute(pod: Pod, spec: NonNullable<Pod['spec']>): Resources {
  let sidecars: Resources = noResources;
  let initPeak: Resources = noResources;
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      sidecars = addResources(sidecars, requestsOf(container));
      initPeak = maxResources(initPeak, sidecars);
    } else {
      initPeak = maxResources(initPeak, addResources(sidecars, requestsOf(container)));
    }
  }
  const running = addResources(sidecars, ...spec.containers.map(requestsOf));
  const podLevel = parseResources(podLevelRequests(pod));
  const needed = { ...maxResources(running, initPeak), ...podLevel };
  return addResources(needed, parseResources(spec.overhead), { pods: Quantity.fromValue(1) });
}

/** `spec.resources` (pod-level resources) is newer than the published type definitions. */
function podLevelRequests(pod: Pod): Record<string, string> | undefined {
  const spec = pod.spec as { resources?: { requests?: Record<string, string> } } | undefined;
  return spec?.resources?.requests;
}
