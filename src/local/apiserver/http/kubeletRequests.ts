/**
 * Requests that the API server passes on: logs, and connections into containers, pods, services and nodes. The kubelets
 * of the cluster answer, or the refusal is the one that upstream gives before it asks one.
 */
import { at, listAt, numberAt, textAt } from '../fields.ts';
import type { Objects } from '../objects.ts';
import type { Target } from '../resource.ts';
import { badRequest, internalError, notFound, serviceUnavailable } from '../status.ts';
import { keyOf } from '../store.ts';
import { containerOf, logOptions, type KubeletDoor } from './kubeletDoor.ts';
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
  kubelets: KubeletDoor | undefined,
  request: ApiRequest,
  target: Target,
  subresource: string,
): ApiResponse {
  if (subresource === 'proxy') throw refuseProxy(objects, target);
  const pod = objects.get(target);
  const node = textAt(pod, 'spec', 'nodeName') ?? '';
  if (subresource === 'log' && request.method === 'GET') {
    const options = logOptions(request, pod, objects.clock.now());
    // A pod without a node has no logs yet, which is no failure upstream.
    if (node === '') return NO_CONTENT;
    const body = kubelets?.logs(pod, options, request.signal);
    if (body !== undefined) return { ...textResponse(''), body };
  } else {
    if (subresource === 'exec' || subresource === 'attach') containerOf(pod, request.query.get('container') ?? '');
    const refused = kubelets?.refuseEntry(pod, subresource);
    if (refused !== undefined) throw refused;
  }
  // The pod has no node, or its node has no kubelet to call.
  if (node === '') throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  // Upstream looks the node up on behalf of the pod, and says so.
  const isKnown = objects.store.table('', 'nodes').get(node) !== undefined;
  throw isKnown ? noAnswer(node) : notFound({ group: '', plural: 'pods' }, node);
}

/** Nothing listens behind the pods of this cluster: the proxy gets as far as finding where it would connect to. */
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
