/** The spec of a pod with lower requests for a resource, reduced in as many containers as necessary. */
import type { Pod } from '../api/kinds.ts';
import { podRequests } from '../pods/podRequests.ts';
import { Quantity } from '../units/quantity.ts';
import { quantityOf } from '../units/resources.ts';
import type { Amount } from './reasons.ts';

type Spec = NonNullable<Pod['spec']>;
type Containers = Spec['containers'];
type Container = Containers[number];

/** How much of a resource the pod's containers may request. */
export interface Room {
  readonly resource: string;
  readonly amount: Quantity;
}

/** What remains after reducing the pod's requests by this much; undefined when nothing would remain of a resource. */
export function roomsWithout(pod: Pod, lacks: readonly Amount[]): readonly Room[] | undefined {
  const rooms = lacks.map(({ resource, amount }): Room => {
    // The runtime class's overhead cannot change.
    const overhead = Quantity.parse(String(pod.spec?.overhead?.[resource] ?? '0'));
    const asked = quantityOf(podRequests(pod), resource).subtract(overhead);
    return { resource, amount: asked.subtract(Quantity.parse(amount)) };
  });
  return rooms.every(({ amount }) => amount.compare(Quantity.zero) > 0) ? rooms : undefined;
}

export function within(spec: Spec, rooms: readonly Room[]): Partial<Spec> {
  const after = rooms.reduce(lessOf, spec);
  const { containers, initContainers } = after;
  const { resources } = after as PodLevel;
  return { containers, ...(initContainers && { initContainers }), ...(resources && { resources }) };
}

interface PodLevel extends Spec {
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
}

function lessOf(spec: Spec, { resource, amount: room }: Room): Spec {
  const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';
  const sidecars = (spec.initContainers ?? []).filter(isSidecar).map((each) => askedBy(each, resource));
  const besides = sidecars.reduce((sum, amount) => sum.add(amount), Quantity.zero);
  const own = room.subtract(besides);
  const first = spec.initContainers?.map((each) =>
    !isSidecar(each) && askedBy(each, resource).compare(own) > 0 ? asking(each, resource, own) : each,
  );
  const { resources } = spec as PodLevel;
  const ofPod = resources?.requests?.[resource];
  return {
    ...spec,
    containers: shared(spec.containers, resource, own),
    ...(first && { initContainers: first }),
    ...(ofPod !== undefined && {
      resources: { ...resources, requests: { ...resources?.requests, [resource]: room.toString() } },
    }),
  };
}

/** A limit without a request counts as the request. */
function askedBy({ resources }: Container, resource: string): Quantity {
  return Quantity.parse(String(resources?.requests?.[resource] ?? resources?.limits?.[resource] ?? '0'));
}

/**
 * Shares `room` among containers: takes the reduction from the largest if it is enough, otherwise from each in
 * proportion.
 */
function shared(containers: Containers, resource: string, room: Quantity): Containers {
  const asked = containers.map((each) => askedBy(each, resource));
  const sum = asked.reduce((total, amount) => total.add(amount), Quantity.zero);
  if (sum.compare(room) <= 0) return containers;
  const missing = sum.subtract(room);
  const most = asked.reduce((best, amount, at) => (amount.compare(asked[best] as Quantity) > 0 ? at : best), 0);
  if ((asked[most] as Quantity).compare(missing) > 0) {
    return containers.map((each, at) =>
      at === most ? asking(each, resource, (asked[most] as Quantity).subtract(missing)) : each,
    );
  }
  const share = room.milliValue() / sum.milliValue();
  return containers.map((each, at) => {
    const amount = asked[at] as Quantity;
    if (amount.milliValue() === 0) return each;
    return asking(each, resource, portion(resource, amount, share));
  });
}

function portion(resource: string, amount: Quantity, share: number): Quantity {
  if (resource === 'cpu') return Quantity.parse(`${Math.floor(amount.milliValue() * share)}m`);
  return Quantity.fromValue(Math.floor(amount.value() * share));
}

/** Adjusts the limit where it must equal the request. */
function asking(container: Container, resource: string, amount: Quantity): Container {
  const { requests, limits } = container.resources ?? {};
  const isExtended = resource.includes('/') || resource.startsWith('hugepages-');
  const text = amount.toString();
  return {
    ...container,
    resources: {
      ...container.resources,
      requests: { ...requests, [resource]: text },
      ...(isExtended && limits?.[resource] !== undefined && { limits: { ...limits, [resource]: text } }),
    },
  };
}
