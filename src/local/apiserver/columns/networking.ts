/** Tables of services and what belongs to them. */
import { at, fieldsAt, listAt, numberAt, textAt, type ApiObject } from '../fields.ts';
import type { Column } from '../resource.ts';
import { ageColumn, labelText, nameColumn, NONE, orNone, text, UNSET, wide } from './column.ts';

function externalIp(service: ApiObject): string {
  const type = textAt(service, 'spec', 'type');
  const external = listAt(service, 'spec', 'externalIPs').map(String);
  if (type === 'ExternalName') return textAt(service, 'spec', 'externalName') ?? NONE;
  if (type !== 'LoadBalancer') return external.length === 0 ? NONE : external.join(',');
  const assigned = listAt(service, 'status', 'loadBalancer', 'ingress').map(
    (entry) => textAt(entry, 'ip') ?? textAt(entry, 'hostname') ?? '',
  );
  const all = [...assigned, ...external];
  return all.length === 0 ? '<pending>' : all.join(',');
}

function servicePorts(service: ApiObject): string {
  const ports = listAt(service, 'spec', 'ports').map((port) => {
    const node = at(port, 'nodePort');
    const number = `${String(at(port, 'port'))}${typeof node === 'number' && node > 0 ? `:${node}` : ''}`;
    return `${number}/${textAt(port, 'protocol') ?? 'TCP'}`;
  });
  return ports.length === 0 ? NONE : ports.join(',');
}

export const serviceColumns: readonly Column[] = [
  nameColumn,
  text('Type', (object) => textAt(object, 'spec', 'type') ?? ''),
  text('Cluster-IP', (object) => orNone(textAt(object, 'spec', 'clusterIP'))),
  text('External-IP', externalIp),
  text('Port(s)', servicePorts),
  ageColumn,
  wide('Selector', (object) => labelText(at(object, 'spec', 'selector'))),
];

const MAX_ENDPOINTS = 3;

export const endpointsColumns: readonly Column[] = [
  nameColumn,
  text('Endpoints', (object) => {
    const all = listAt(object, 'subsets').flatMap((subset) =>
      listAt(subset, 'addresses').flatMap((address) => {
        const ports = listAt(subset, 'ports');
        const ip = textAt(address, 'ip') ?? '';
        return ports.length === 0 ? [ip] : ports.map((port) => `${ip}:${String(at(port, 'port'))}`);
      }),
    );
    if (all.length === 0) return NONE;
    const more = all.length > MAX_ENDPOINTS ? ` + ${all.length - MAX_ENDPOINTS} more...` : '';
    return all.slice(0, MAX_ENDPOINTS).join(',') + more;
  }),
  ageColumn,
];

export const endpointSliceColumns: readonly Column[] = [
  nameColumn,
  text('AddressType', (object) => textAt(object, 'addressType') ?? ''),
  text('Ports', (object) => {
    const ports = listAt(object, 'ports').map((port) => String(numberAt(port, 'port') ?? '*'));
    return ports.length === 0 ? UNSET : ports.join(',');
  }),
  text('Endpoints', (object) => {
    const all = listAt(object, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses').map(String));
    if (all.length === 0) return UNSET;
    const more = all.length > MAX_ENDPOINTS ? ` + ${all.length - MAX_ENDPOINTS} more...` : '';
    return all.slice(0, MAX_ENDPOINTS).join(',') + more;
  }),
  ageColumn,
];

export const networkPolicyColumns: readonly Column[] = [
  nameColumn,
  text('Pod-Selector', (object) => labelText(at(object, 'spec', 'podSelector', 'matchLabels'))),
  ageColumn,
];

export const ingressColumns: readonly Column[] = [
  nameColumn,
  text('Class', (object) => orNone(textAt(object, 'spec', 'ingressClassName'))),
  text('Hosts', (object) => {
    const hosts = listAt(object, 'spec', 'rules').flatMap((rule) => textAt(rule, 'host') ?? []);
    return hosts.length === 0 ? '*' : hosts.join(',');
  }),
  text('Address', (object) =>
    listAt(object, 'status', 'loadBalancer', 'ingress')
      .map((entry) => textAt(entry, 'ip') ?? textAt(entry, 'hostname') ?? '')
      .join(','),
  ),
  text('Ports', (object) => (listAt(object, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
  ageColumn,
];

export const ingressClassColumns: readonly Column[] = [
  nameColumn,
  text('Controller', (object) => textAt(object, 'spec', 'controller') ?? ''),
  text('Parameters', (object) => {
    const parameters = fieldsAt(object, 'spec', 'parameters');
    if (parameters === undefined) return NONE;
    const group = textAt(parameters, 'apiGroup') ?? '';
    return `${textAt(parameters, 'kind') ?? ''}${group === '' ? '' : `.${group}`}/${textAt(parameters, 'name') ?? ''}`;
  }),
  ageColumn,
];

export const ipAddressColumns: readonly Column[] = [
  nameColumn,
  text('ParentRef', (object) => {
    const parent = fieldsAt(object, 'spec', 'parentRef');
    const parts = ['resource', 'namespace', 'name'].map((part) => textAt(parent, part) ?? '');
    return parent === undefined ? NONE : parts.filter((part) => part !== '').join('/');
  }),
];

export const serviceCidrColumns: readonly Column[] = [
  nameColumn,
  text('CIDRs', (object) => listAt(object, 'spec', 'cidrs').map(String).join(',')),
  ageColumn,
];
