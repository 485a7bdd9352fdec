/**
 * Resources that a pod takes (or may take at most) of a node, by the rules of kube-scheduler: init containers,
 * sidecars, pending resizes, pod-level resources, overhead, and one of `pods`.
 */
import type { Container, ContainerStatus, Pod } from 'kubernetes-types/core/v1.js';
import { Quantity } from '../units/quantity.ts';
import {
  addResources,
  maxResources,
  noResources,
  parseResources,
  quantityOf,
  type Resources,
} from '../units/resources.ts';

type ResourceList = Readonly<Record<string, string>>;

/** Our typings are older than this field. */
interface PodLevelResources {
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
}

const ONE_POD: Resources = { pods: Quantity.fromValue(1) };

/** By spec until a kubelet reports the pod's resources, then by pod: a spec object survives changes of the status. */
const known = new WeakMap<object, Resources>();

export function podRequests(pod: Pod): Resources {
  const key = (hasReported(pod) ? undefined : pod.spec) ?? pod;
  let requests = known.get(key);
  if (requests === undefined) known.set(key, (requests = computeRequests(pod)));
  return requests;
}

function computeRequests(pod: Pod): Resources {
  const spec: (Pod['spec'] & PodLevelResources) | undefined = pod.spec;
  const statuses = hasReported(pod) ? reportedStatuses(pod) : undefined;
  const containers = aggregate(pod, (container) => {
    const own = container.resources?.requests;
    const status = statuses?.get(container.name);
    return status === undefined ? parseResources(own) : resizedRequests(pod, own, status);
  });
  return addResources(
    { ...containers, ...podLevel(spec?.resources?.requests) },
    parseResources(spec?.overhead),
    ONE_POD,
  );
}

/** Overhead is added only to resources that have a limit. */
export function podLimits(pod: Pod): Resources {
  const spec: (Pod['spec'] & PodLevelResources) | undefined = pod.spec;
  const containers = aggregate(pod, (container) => parseResources(container.resources?.limits));
  const limits: Record<string, Quantity> = { ...containers, ...podLevel(spec?.resources?.limits) };
  for (const [name, overhead] of Object.entries(parseResources(spec?.overhead))) {
    const limit = quantityOf(limits, name);
    if (!limit.isZero()) limits[name] = limit.add(overhead);
  }
  return addResources(limits, ONE_POD);
}

/**
 * The maximum that the containers need at one time: either all long-running ones, or one init container plus the
 * sidecars started before it.
 */
function aggregate(pod: Pod, amountOf: (container: Container) => Resources): Resources {
  const containers = pod.spec?.containers ?? [];
  const initContainers = pod.spec?.initContainers ?? [];
  const [only] = containers;
  if (only !== undefined && containers.length === 1 && initContainers.length === 0) return amountOf(only);
  let sidecars = noResources;
  let peak = noResources;
  for (const container of initContainers) {
    const starting = addResources(sidecars, amountOf(container));
    if (container.restartPolicy === 'Always') sidecars = starting;
    peak = maxResources(peak, starting);
  }
  return maxResources(addResources(...containers.map(amountOf), sidecars), peak);
}

/** Pod-level amounts replace the containers' sum for the resources where they are supported. */
function podLevel(list: ResourceList | undefined): Resources {
  if (list === undefined) return noResources;
  const supported = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
  return parseResources(Object.fromEntries(Object.entries(list).filter(([name]) => supported(name))));
}

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.containerStatuses ?? []),
  ...(status?.initContainerStatuses ?? []),
];

/** Whether a kubelet has reported the containers' actual resources. */
function hasReported({ status }: Pod): boolean {
  const reports = ({ resources }: ContainerStatus): boolean => resources !== undefined;
  return (status?.containerStatuses?.some(reports) || status?.initContainerStatuses?.some(reports)) ?? false;
}

/** Includes sidecars but not plain init containers. */
function reportedStatuses(pod: Pod): ReadonlyMap<string, ContainerStatus> {
  const plain = new Set(
    (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy !== 'Always').map(({ name }) => name),
  );
  const reporting = statusesOf(pod).filter(({ name, resources }) => resources !== undefined && !plain.has(name));
  return new Map(reporting.map((status) => [status.name, status]));
}

/** During a resize the larger amount counts; an infeasible resize is ignored. */
function resizedRequests(pod: Pod, wanted: ResourceList | undefined, status: ContainerStatus): Resources {
  const held = maxResources(parseResources(status.resources?.requests), parseResources(status.allocatedResources));
  const pending = pod.status?.conditions?.find((condition) => condition.type === 'PodResizePending');
  return pending?.reason === 'Infeasible' ? held : maxResources(parseResources(wanted), held);
}
