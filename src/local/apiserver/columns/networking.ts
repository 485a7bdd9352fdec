/** Table cells of services, endpoints, ingresses and IP addresses. */
import { at, fieldsAt, listAt, numberAt, textAt, type ApiObject } from '../fields.ts';
import { firstOf, NONE, UNSET, type Cells } from './column.ts';

const MAX_ENDPOINTS = 3;

function balancerAddresses(object: ApiObject): string[] {
  const entries = listAt(object, 'status', 'loadBalancer', 'ingress');
  return entries.map((entry) => textAt(entry, 'ip') ?? textAt(entry, 'hostname') ?? '');
}

function externalIp(service: ApiObject): string {
  const type = textAt(service, 'spec', 'type');
  const external = listAt(service, 'spec', 'externalIPs').map(String);
  if (type === 'ExternalName') return textAt(service, 'spec', 'externalName') ?? NONE;
  if (type !== 'LoadBalancer') return external.length === 0 ? NONE : external.join(',');
  const all = [...balancerAddresses(service), ...external];
  return all.length === 0 ? '<pending>' : all.join(',');
}

function servicePorts(service: ApiObject): string {
  const ports = listAt(service, 'spec', 'ports').map((port) => {
    const node = numberAt(port, 'nodePort') ?? 0;
    return `${String(at(port, 'port'))}${node > 0 ? `:${node}` : ''}/${textAt(port, 'protocol') ?? 'TCP'}`;
  });
  return ports.length === 0 ? NONE : ports.join(',');
}

function endpoints(object: ApiObject): string {
  const all = listAt(object, 'subsets').flatMap((subset) =>
    listAt(subset, 'addresses').flatMap((address) => {
      const ports = listAt(subset, 'ports');
      const ip = textAt(address, 'ip') ?? '';
      return ports.length === 0 ? [ip] : ports.map((port) => `${ip}:${String(at(port, 'port'))}`);
    }),
  );
  return firstOf(all, MAX_ENDPOINTS, NONE);
}

function slicePorts(slice: ApiObject): string {
  const ports = listAt(slice, 'ports').map((port) => String(numberAt(port, 'port') ?? '*'));
  return ports.length === 0 ? UNSET : ports.join(',');
}

function sliceEndpoints(slice: ApiObject): string {
  const all = listAt(slice, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses').map(String));
  return firstOf(all, MAX_ENDPOINTS, UNSET);
}

function ingressHosts(ingress: ApiObject): string {
  const all = listAt(ingress, 'spec', 'rules').flatMap((rule) => textAt(rule, 'host') ?? []);
  return all.length === 0 ? '*' : all.join(',');
}

function classParameters(ingressClass: ApiObject): string {
  const found = fieldsAt(ingressClass, 'spec', 'parameters');
  if (found === undefined) return NONE;
  const group = textAt(found, 'apiGroup') ?? '';
  return `${textAt(found, 'kind') ?? ''}${group === '' ? '' : `.${group}`}/${textAt(found, 'name') ?? ''}`;
}

function parent(address: ApiObject): string {
  const found = fieldsAt(address, 'spec', 'parentRef');
  const parts = ['resource', 'namespace', 'name'].map((part) => textAt(found, part) ?? '');
  return found === undefined ? NONE : parts.filter((part) => part !== '').join('/');
}

export const networkingCells: Cells = {
  externalIp,
  servicePorts,
  endpoints,
  slicePorts,
  sliceEndpoints,
  ingressHosts,
  ingressAddress: (ingress) => balancerAddresses(ingress).join(','),
  ingressPorts: (ingress) => (listAt(ingress, 'spec', 'tls').length > 0 ? '80, 443' : '80'),
  classParameters,
  parent,
};
