/**
 * Where the traffic of a Service goes. In: Services and pods. Out: an Endpoints object and an EndpointSlice for each
 * Service that selects pods, and an address for each load balancer.
 */
import type { EndpointSlice as RawEndpointSlice } from 'kubernetes-types/discovery/v1.js';
import type { Endpoints as RawEndpoints } from 'kubernetes-types/core/v1.js';
import { Kinds, type Pod, type Service } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind, WithMeta } from '../../api/object.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { BY_NAMESPACE } from './disruptionBudget.ts';
import { ownerReference, type WorkloadOptions } from './ownedPods.ts';
import { isReady, isTerminal } from './podState.ts';
import { canonical, templateHash } from './templateHash.ts';
import { gathered } from './gathered.ts';

type Endpoints = WithMeta<RawEndpoints>;
type EndpointSlice = WithMeta<RawEndpointSlice>;

const ENDPOINTS: ResourceKind<Endpoints> = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  singular: 'endpoints',
  namespaced: true,
};
const ENDPOINT_SLICE: ResourceKind<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  namespaced: true,
};
/** A slice of Kubernetes holds this many; pods beyond are left out here. */
const MOST_ENDPOINTS = 1000;

export interface EndpointsOptions extends Omit<WorkloadOptions, 'events'> {
  readonly services: Informer<Service>;
}

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number];

export function endpointsController(options: EndpointsOptions): Controller {
  const { kube, clock, random, log, pods, services } = options;

  async function reconcile(key: string): Promise<void> {
    const service = services.store.get(refOf(key));
    const { selector } = service?.spec ?? {};
    if (!service || service.metadata.deletionTimestamp) return;
    await giveAddress(service);
    if (!selector) return;
    const selected = pods.store
      .byIndex(BY_NAMESPACE, service.metadata.namespace ?? '')
      .filter(
        (pod) => pod.status?.podIP && !isTerminal(pod) && !pod.metadata.deletionTimestamp && selects(selector, pod),
      )
      .sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1))
      .slice(0, MOST_ENDPOINTS);
    const { name, namespace } = service.metadata;
    const metadata = {
      name,
      ...(namespace && { namespace }),
      labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
    };
    const target = (pod: Pod): object => ({
      kind: 'Pod',
      name: pod.metadata.name,
      namespace: pod.metadata.namespace,
      uid: pod.metadata.uid,
    });
    const address = (pod: Pod): object => ({
      ip: pod.status?.podIP,
      nodeName: pod.spec?.nodeName,
      targetRef: target(pod),
    });
    const [ready, waiting] = [selected.filter(isReady), selected.filter((pod) => !isReady(pod))];
    const ports = (service.spec?.ports ?? []).map((port) => ({
      ...(port.name && { name: port.name }),
      port: portOf(port, selected[0]),
      protocol: port.protocol ?? 'TCP',
    }));
    await put(kube, ENDPOINTS, metadata, {
      subsets:
        selected.length === 0
          ? []
          : [
              {
                ...(ready.length > 0 && { addresses: ready.map(address) }),
                ...(waiting.length > 0 && { notReadyAddresses: waiting.map(address) }),
                ports,
              },
            ],
    });
    const slice = {
      ...metadata,
      name: `${name}-${templateHash(service.metadata.uid).slice(0, 5)}`,
      labels: {
        'kubernetes.io/service-name': name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [ownerReference(Kinds.Service, service)],
    };
    await put(kube, ENDPOINT_SLICE, slice, {
      addressType: 'IPv4',
      endpoints: selected.map((pod) => ({
        addresses: [pod.status?.podIP],
        conditions: { ready: isReady(pod), serving: isReady(pod), terminating: false },
        nodeName: pod.spec?.nodeName,
        targetRef: target(pod),
      })),
      ports: ports.map((port) => ({ name: '', ...port })),
    });
  }

  async function giveAddress(service: Service): Promise<void> {
    if (service.spec?.type !== 'LoadBalancer' || service.status?.loadBalancer?.ingress) return;
    const word = templateHash(service.metadata.uid);
    const octet = (index: number): number => ((word.charCodeAt(index) * 31 + word.charCodeAt(index + 1)) % 254) + 1;
    const ip = `20.${octet(0)}.${octet(2)}.${octet(4)}`;
    await patchStatus(kube, Kinds.Service, service, {
      ...service,
      status: { ...service.status, loadBalancer: { ingress: [{ ip }] } },
    });
  }

  function servicesOf(pod: Pod): string[] {
    const keys: string[] = [];
    for (const service of services.store.list()) {
      if (service.metadata.namespace !== pod.metadata.namespace || !service.spec?.selector) continue;
      if (selects(service.spec.selector, pod)) keys.push(keyOf(service));
    }
    return keys;
  }

  return reconciler({
    name: 'local.endpoints',
    concurrency: 4,
    clock,
    random,
    log,
    watches: [watch(services), watch(pods, ({ object }) => servicesOf(object))],
    reconcile: gathered(clock, reconcile),
  });
}

const selects = (selector: Readonly<Record<string, string>>, pod: Pod): boolean =>
  Object.entries(selector).every(([key, value]) => pod.metadata.labels?.[key] === value);

/** A port of the service, as the pod has it: a number, or the name of one of its container ports. */
function portOf(port: ServicePort, pod: Pod | undefined): number {
  const target = port.targetPort ?? port.port;
  if (typeof target === 'number') return target;
  const named = (pod?.spec?.containers ?? []).flatMap(({ ports = [] }) => ports).find(({ name }) => name === target);
  return named?.containerPort ?? (Number(target) || port.port);
}

/** Makes the object say this, whether it exists or not; writes nothing when it says so already. */
async function put<T extends KubeObject>(
  kube: Kube,
  kind: ResourceKind<T>,
  metadata: T['metadata'],
  body: object,
): Promise<void> {
  const ref = { name: metadata.name, namespace: metadata.namespace };
  try {
    const before: object = await kube.get(kind, ref);
    const same = Object.entries(body).every(
      ([field, value]) =>
        canonical(value) ===
        canonical((before as Record<string, unknown>)[field] ?? (Array.isArray(value) ? [] : undefined)),
    );
    if (!same) await kube.patch(kind, ref, { type: 'merge', body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    try {
      await kube.create(kind, { metadata, ...body } as unknown as Parameters<typeof kube.create<T>>[1]);
    } catch (failure) {
      if (!isAlreadyExists(failure)) throw failure;
    }
  }
}
