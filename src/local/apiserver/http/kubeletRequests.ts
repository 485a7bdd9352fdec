/**
 * Requests that the API server forwards: logs, and connections to containers, pods, services and nodes. Kubelets respond
 * to them, or upstream's checks before forwarding reject them.
 */
import { at, listAt, numberAt, textAt } from '../fields.ts';
import type { Objects } from '../objects.ts';
import type { Target } from '../resource.ts';
import { badRequest, internalError, notFound, serviceUnavailable } from '../status.ts';
import { keyOf } from '../store.ts';
import { containerOf, logOptions, type KubeletApi } from './kubeletApi.ts';
import { textResponse, type ApiRequest, type ApiResponse } from './message.ts';

const CONNECTIONS = new Set(['exec', 'attach', 'portforward', 'proxy']);
const NO_CONTENT: ApiResponse = { code: 204, contentType: '', body: '' };
const SCHEMES = new Set(['', 'http', 'https']);

export function isForKubelet(method: string, subresource = ''): boolean {
  if (subresource === 'proxy') return true;
  return (method === 'GET' || method === 'POST') && (subresource === 'log' || CONNECTIONS.has(subresource));
}

export function answerForKubelet(
  objects: Objects,
  kubelets: KubeletApi | undefined,
  request: ApiRequest,
  target: Target,
  subresource: string,
): ApiResponse {
  if (subresource === 'proxy') throw refuseProxy(objects, target);
  const pod = objects.get(target);
  const node = textAt(pod, 'spec', 'nodeName') ?? '';
  if (subresource === 'log' && request.method === 'GET') {
    const options = logOptions(request, pod, objects.clock.now());
    // Upstream returns no error for the logs of an unscheduled pod.
    if (node === '') return NO_CONTENT;
    const body = kubelets?.logs(pod, options, request.signal);
    if (body !== undefined) return { ...textResponse(''), body };
  } else {
    if (subresource === 'exec' || subresource === 'attach') containerOf(pod, request.query.get('container') ?? '');
    const refused = kubelets?.refuseEntry(pod, subresource);
    if (refused !== undefined) throw refused;
  }
  // The pod is unscheduled, or the kubelet of its node does not respond.
  if (node === '') throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  // Upstream's message names the resource pods where the node does not exist.
  const isKnown = objects.store.table('', 'nodes').get(node) !== undefined;
  throw isKnown ? noAnswer(node) : notFound({ group: '', plural: 'pods' }, node);
}

/** Returns the error of a proxy request, at the latest of the connection, because pods have no listening processes. */
function refuseProxy(objects: Objects, { resource, namespace, name: id }: Target): Error {
  const parts = id.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  if (parts.length > 3 || name === '' || !SCHEMES.has(scheme)) {
    return badRequest(`invalid ${resource.singular} request ${JSON.stringify(id)}`);
  }
  const target = { resource, namespace, name };
  if (resource.plural === 'services') return refuseService(objects, target, id, port);
  const object = objects.get(target);
  if (resource.plural === 'nodes') return noAnswer(object.metadata.name);
  const address = textAt(object, 'status', 'podIP') ?? '';
  return address === '' ? badRequest('address not allowed') : unreachable(address, port);
}

function refuseService(objects: Objects, target: Target, id: string, port: string): Error {
  let portName = port;
  if (/^\d+$/.test(port)) {
    const ports = listAt(objects.get(target), 'spec', 'ports');
    const found = ports.find((one) => numberAt(one, 'port') === Number(port));
    if (found === undefined) {
      return serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(target.name)}`);
    }
    portName = textAt(found, 'name') ?? '';
  }
  const endpoints = objects.store.table('', 'endpoints').get(keyOf(target.namespace, target.name));
  if (endpoints === undefined) return notFound(target.resource, target.name);
  const subsets = listAt(endpoints, 'subsets');
  for (const subset of subsets) {
    const open = listAt(subset, 'ports').find((one) => (textAt(one, 'name') ?? '') === portName);
    const address = listAt(subset, 'addresses').find((one) => at(one, 'targetRef', 'kind') === 'Pod');
    if (open === undefined || address === undefined) continue;
    return unreachable(textAt(address, 'ip') ?? '', String(numberAt(open, 'port') ?? ''));
  }
  const shown = JSON.stringify(subsets.length === 0 ? target.name : id);
  return serviceUnavailable(`no endpoints available for service ${shown}`);
}

function noAnswer(node: string): Error {
  return internalError(new Error(`no kubelet answers for node ${node}`));
}

function unreachable(address: string, port: string): Error {
  const place = port === '' ? address : `${address}:${port}`;
  return serviceUnavailable(`error trying to reach service: dial tcp ${place}: connect: connection refused`);
}
