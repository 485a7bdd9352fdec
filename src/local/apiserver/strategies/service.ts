/** Rules for services: addresses, ports, types. */
import { NodewrightError } from '../../../errors/nodewrightError.ts';
import { isIP } from 'node:net';
import { each, given } from '../defaults.ts';
import {
  at,
  ensureFields,
  fieldsAt,
  isFields,
  listAt,
  sameJson,
  setDefaults,
  textAt,
  type ApiObject,
  type Fields,
} from '../fields.ts';
import type { Strategy, StrategyContext } from '../resource.ts';
import { invalid, invalidValue } from '../status.ts';
import type { Check } from './check.ts';

const SERVICE = { group: '', kind: 'Service' };
const FIRST_ADDRESS = 1;
const LAST_ADDRESS = 0xfffe;
const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;

/** Returns the lowest unused address of 10.0.0.0/16. */
function freeClusterIp(context: StrategyContext): string {
  const taken = new Set<string>();
  for (const service of context.all('', 'services')) taken.add(textAt(service, 'spec', 'clusterIP') ?? '');
  for (let host = FIRST_ADDRESS; host <= LAST_ADDRESS; host++) {
    const address = `10.0.${host >> 8}.${host & 255}`;
    if (!taken.has(address)) return address;
  }
  throw new NodewrightError('LocalRangeExhausted', { what: 'service address', range: '10.0.0.0/16' });
}

function takenNodePorts(context: StrategyContext): Set<unknown> {
  const taken = new Set<unknown>();
  for (const service of context.all('', 'services')) {
    for (const port of listAt(service, 'spec', 'ports')) if (isFields(port)) taken.add(port['nodePort']);
    taken.add(at(service, 'spec', 'healthCheckNodePort'));
  }
  return taken;
}

/** Allocates node ports. `own`: ports that the service already has. */
function giveNodePorts(name: string, spec: Fields, context: StrategyContext, own: ReadonlySet<unknown>): void {
  const taken = takenNodePorts(context);
  const free = (): number => {
    let candidate = FIRST_NODE_PORT;
    while (taken.has(candidate) && candidate <= LAST_NODE_PORT) candidate++;
    if (candidate > LAST_NODE_PORT)
      throw new NodewrightError('LocalRangeExhausted', { what: 'node port', range: `up to ${LAST_NODE_PORT}` });
    taken.add(candidate);
    return candidate;
  };
  listAt(spec, 'ports').forEach((port, index) => {
    if (!isFields(port)) return;
    const wanted = port['nodePort'];
    if (typeof wanted !== 'number' || wanted === 0) port['nodePort'] = free();
    else if (taken.has(wanted) && !own.has(wanted)) {
      const error = invalidValue(`spec.ports[${index}].nodePort`, wanted, 'provided port is already allocated');
      throw invalid(SERVICE, name, [error]);
    } else taken.add(wanted);
  });
  if (needsHealthCheck(spec) && typeof spec['healthCheckNodePort'] !== 'number') spec['healthCheckNodePort'] = free();
}

/** Whether the load balancer must check which nodes have pods, because it preserves client addresses. */
function needsHealthCheck(spec: Fields): boolean {
  return spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local';
}

function checkAddress(name: string, address: string, context: StrategyContext): void {
  if (address === 'None' || isIP(address) === 0) return;
  const refuse = (why: string): never => {
    const error = invalidValue('spec.clusterIPs', [address], `failed to allocate IP ${address}: ${why}`);
    throw invalid(SERVICE, name, [error]);
  };
  if (!address.startsWith('10.0.')) refuse('the provided network does not match the current range');
  for (const service of context.all('', 'services')) {
    if (textAt(service, 'spec', 'clusterIP') === address) refuse('provided IP is already allocated');
  }
}

export const serviceStrategy: Strategy = {
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    setDefaults(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
    if (spec['sessionAffinity'] === 'ClientIP') {
      setDefaults(ensureFields(ensureFields(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: 10_800 });
    } else delete spec['sessionAffinityConfig'];
    if (spec['type'] === 'ExternalName') return;
    setDefaults(spec, { internalTrafficPolicy: 'Cluster' });
    if (spec['type'] !== 'ClusterIP') setDefaults(spec, { externalTrafficPolicy: 'Cluster' });
    if (spec['type'] === 'LoadBalancer') setDefaults(spec, { allocateLoadBalancerNodePorts: true });
    for (const port of listAt(spec, 'ports')) {
      if (isFields(port)) setDefaults(port, { protocol: 'TCP', targetPort: port['port'] });
    }
  },
  // Upstream defaults the mode of an entry with an address to VIP; an entry with a host name has none.
  statusDefaults: {
    status: given({
      loadBalancer: given({ ingress: each({ ipMode: (entry: Fields) => (entry['ip'] ? 'VIP' : undefined) }) }),
    }),
  },
  warnings: ({ spec }) =>
    listAt(spec, 'externalIPs').length > 0
      ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']
      : [],
  prepareCreate(draft, context) {
    const spec = ensureFields(draft, 'spec');
    draft['status'] = { loadBalancer: {} };
    if (spec['type'] === 'ExternalName') return;
    const { name } = draft.metadata;
    if (spec['clusterIP'] === undefined || spec['clusterIP'] === '') spec['clusterIP'] = freeClusterIp(context);
    else checkAddress(name, textAt(spec, 'clusterIP') ?? '', context);
    setDefaults(spec, { clusterIPs: [spec['clusterIP']], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
    if (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer') giveNodePorts(name, spec, context, new Set());
  },
  prepareUpdate(draft, old, context) {
    const spec = ensureFields(draft, 'spec');
    if (spec['type'] === 'ExternalName') return;
    // A replace without these fields keeps them.
    const before = fieldsAt(old, 'spec') ?? {};
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      if (before[field] !== undefined) setDefaults(spec, { [field]: before[field] });
    }
    // If only `clusterIP` was changed, the list gets the change too, so that validation rejects it.
    if (spec['clusterIP'] !== before['clusterIP']) spec['clusterIPs'] = [spec['clusterIP']];
    const own = new Set(listAt(before, 'ports').map((port) => at(port, 'nodePort')));
    if (before['healthCheckNodePort'] !== undefined && needsHealthCheck(spec)) {
      setDefaults(spec, { healthCheckNodePort: before['healthCheckNodePort'] });
    }
    if (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer') {
      giveNodePorts(draft.metadata.name, spec, context, own);
    }
  },
  validate: checkService,
};

const SERVICE_TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const MAX_PORT = 65_535;

function checkService(check: Check, _draft: ApiObject, old: ApiObject | undefined): void {
  const spec = check.at('spec');
  const type = spec.text('type');
  const { length } = spec.list('ports');
  if (type !== 'ExternalName' && spec.get('clusterIP') !== 'None' && length === 0) spec.missing('ports');
  const names = new Set<string>();
  spec.each('ports', (port) => {
    const name = port.text('name');
    if (name === '' && length > 1) port.missing('name');
    else if (name !== '' && names.has(name)) port.duplicate('name', name);
    names.add(name);
    port.between('port', port.number('port'), 1, MAX_PORT);
    port.between('targetPort', port.number('targetPort'), 1, MAX_PORT);
    const nodePort = port.number('nodePort');
    if (nodePort !== undefined && (nodePort < FIRST_NODE_PORT || nodePort > LAST_NODE_PORT)) {
      const range = `The range of valid ports is ${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
      port.invalid('nodePort', nodePort, `provided port is not in the valid range. ${range}`);
    }
  });
  spec.oneOf('type', SERVICE_TYPES);
  if (type === 'ExternalName') spec.require('externalName');
  const addresses = spec.list('clusterIPs');
  const [address] = addresses;
  if (typeof address === 'string' && address !== 'None' && address !== '' && isIP(address) === 0) {
    spec.invalid('clusterIPs[0]', address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
  }
  const before = listAt(old, 'spec', 'clusterIPs');
  const wasExternal = textAt(old, 'spec', 'type') === 'ExternalName';
  if (before.length > 0 && !wasExternal && type !== 'ExternalName' && !sameJson(addresses, before)) {
    spec.invalid('clusterIPs[0]', addresses, 'may not change once set');
  }
}
