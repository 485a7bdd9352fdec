/** Writes Endpoints and an EndpointSlice for the pods of each Service, and the address of load balancers. */
import type { EndpointSlice as RawEndpointSlice } from 'kubernetes-types/discovery/v1.js';
import type { Endpoints as RawEndpoints } from 'kubernetes-types/core/v1.js';
import { Kinds, type Pod, type Service } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind, WithMeta } from '../../api/object.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Draft, Kube } from '../../kube/kube.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf, watch } from '../../kube/runtime/watch.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { sameJson } from '../apiserver/fields.ts';
import { BY_NAMESPACE } from '../clusterInformers.ts';
import { controlLoop, type ControlPlaneContext } from '../controlLoop.ts';
import { createIfAbsent, inNamespaceOf, merge, ownerReference, writeStatus } from '../writes.ts';
import { isReady } from './podState.ts';
import { templateHash } from './templateHash.ts';

type Endpoints = WithMeta<RawEndpoints>;
type EndpointSlice = WithMeta<RawEndpointSlice>;

const ENDPOINTS = kindOf<Endpoints>('', 'Endpoints', 'endpoints');
const ENDPOINT_SLICE = kindOf<EndpointSlice>('discovery.k8s.io', 'EndpointSlice', 'endpointslices');

function kindOf<T extends KubeObject>(group: string, kind: string, plural: string): ResourceKind<T> {
  return { group, version: 'v1', kind, plural, singular: kind.toLowerCase(), namespaced: true };
}

/** Upstream's limit of endpoints in a slice; further pods are omitted here. */
const MOST_ENDPOINTS = 1000;

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number];

export function endpointsController(context: ControlPlaneContext): Controller {
  const { kube, informers } = context;
  const { pods, services } = informers;

  async function reconcile(service: Service): Promise<void> {
    const { selector, ports = [] } = service.spec ?? {};
    await giveAddress(service);
    if (!selector) return;
    const selected = pods.store
      .byIndex(BY_NAMESPACE, service.metadata.namespace ?? '')
      .filter((pod) => pod.status?.podIP && isActive(pod) && selects(selector, pod))
      .sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1))
      .slice(0, MOST_ENDPOINTS);
    const open = ports.map((port) => ({
      ...(port.name && { name: port.name }),
      port: portOf(port, selected[0]),
      protocol: port.protocol ?? 'TCP',
    }));
    await putEndpoints(service, selected, open);
    await putSlice(service, selected, open);
  }

  async function putEndpoints(service: Service, selected: readonly Pod[], ports: readonly object[]): Promise<void> {
    const address = (pod: Pod): object => ({
      ip: pod.status?.podIP,
      nodeName: pod.spec?.nodeName,
      targetRef: targetOf(pod),
    });
    const [ready, waiting] = [selected.filter(isReady), selected.filter((pod) => !isReady(pod))];
    const subset = {
      ...(ready.length > 0 && { addresses: ready.map(address) }),
      ...(waiting.length > 0 && { notReadyAddresses: waiting.map(address) }),
      ports,
    };
    const labels = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
    const metadata = { name: service.metadata.name, ...inNamespaceOf(service), labels };
    await put(kube, ENDPOINTS, metadata, { subsets: selected.length === 0 ? [] : [subset] });
  }

  async function putSlice(service: Service, selected: readonly Pod[], ports: readonly object[]): Promise<void> {
    const { name, uid } = service.metadata;
    const metadata = {
      name: `${name}-${templateHash(uid).slice(0, 5)}`,
      ...inNamespaceOf(service),
      labels: {
        'kubernetes.io/service-name': name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [ownerReference(Kinds.Service, service)],
    };
    await put(kube, ENDPOINT_SLICE, metadata, {
      addressType: 'IPv4',
      endpoints: selected.map((pod) => ({
        addresses: [pod.status?.podIP],
        conditions: { ready: isReady(pod), serving: isReady(pod), terminating: false },
        nodeName: pod.spec?.nodeName,
        targetRef: targetOf(pod),
      })),
      ports: ports.map((port) => ({ name: '', ...port })),
    });
  }

  async function giveAddress(service: Service): Promise<void> {
    if (service.spec?.type !== 'LoadBalancer' || service.status?.loadBalancer?.ingress) return;
    const word = templateHash(service.metadata.uid);
    const octet = (index: number): number => ((word.charCodeAt(index) * 31 + word.charCodeAt(index + 1)) % 254) + 1;
    const ip = `20.${octet(0)}.${octet(2)}.${octet(4)}`;
    await writeStatus(kube, Kinds.Service, service, { ...service.status, loadBalancer: { ingress: [{ ip }] } });
  }

  const servicesOf = (pod: Pod): string[] =>
    [...services.store.list()]
      .filter(
        ({ metadata, spec }) =>
          metadata.namespace === pod.metadata.namespace && spec?.selector && selects(spec.selector, pod),
      )
      .map(keyOf);
  return controlLoop(context, {
    name: 'endpoints',
    of: services,
    also: [watch(pods, ({ object }) => servicesOf(object))],
    concurrency: 4,
    gathers: true,
    reconcile,
  });
}

const targetOf = ({ metadata: { name, namespace, uid } }: Pod): object => ({ kind: 'Pod', name, namespace, uid });

const selects = (selector: Readonly<Record<string, string>>, pod: Pod): boolean =>
  Object.entries(selector).every(([key, value]) => pod.metadata.labels?.[key] === value);

/** Returns the number of a service's target port, which may be the name of a container port. */
function portOf(port: ServicePort, pod: Pod | undefined): number {
  const target = port.targetPort ?? port.port;
  if (typeof target === 'number') return target;
  const named = (pod?.spec?.containers ?? []).flatMap(({ ports = [] }) => ports).find(({ name }) => name === target);
  return named?.containerPort ?? (Number(target) || port.port);
}

/** Creates the object, or updates it if it differs. */
async function put<T extends KubeObject>(
  kube: Kube,
  kind: ResourceKind<T>,
  metadata: T['metadata'],
  body: object,
): Promise<void> {
  const before = await ignoreNotFound(kube.get(kind, { name: metadata.name, namespace: metadata.namespace }));
  if (before === undefined) {
    await createIfAbsent(kube, kind, { metadata, ...body } as Draft<T>);
    return;
  }
  const known = before as unknown as Record<string, unknown>;
  const isSame = Object.entries(body).every(([field, value]) =>
    sameJson(value, known[field] ?? (Array.isArray(value) ? [] : undefined)),
  );
  if (!isSame) await merge(kube, kind, before, body);
}
