/** Validates containers. */
import { Quantity } from '../../../units/quantity.ts';
import { fieldsAt, isFields } from '../fields.ts';
import { labelProblems, qualifiedNameProblems } from '../names.ts';
import type { Check } from './check.ts';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MAX_PORT = 65_535;
const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage', 'storage']);
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

export function checkContainers(spec: Check, volumes: ReadonlySet<string>): void {
  const names = new Set<string>();
  if (spec.list('containers').length === 0) spec.missing('containers');
  for (const list of ['containers', 'initContainers']) {
    spec.each(list, (container) => {
      const name = container.require('name');
      if (name !== '') container.problems('name', name, labelProblems);
      if (name !== '' && names.has(name)) container.duplicate('name', name);
      names.add(name);
      checkContainer(container, volumes);
    });
  }
}

function checkContainer(container: Check, volumes: ReadonlySet<string>): void {
  container.require('image');
  container.each('ports', (port) => {
    const number = port.number('containerPort') ?? 0;
    if (number === 0) port.missing('containerPort');
    else port.between('containerPort', number, 1, MAX_PORT);
    const hostPort = port.number('hostPort') ?? 0;
    if (hostPort !== 0) port.between('hostPort', hostPort, 1, MAX_PORT);
    port.oneOf('protocol', PROTOCOLS);
  });
  container.each('env', (variable) => {
    variable.require('name');
    if (isFields(variable.get('valueFrom')) && variable.text('value') !== '') {
      variable.invalid('valueFrom', '', 'may not be specified when `value` is not empty');
    }
  });
  checkMounts(container, volumes);
  container.oneOf('imagePullPolicy', PULL_POLICIES);
  checkResources(container);
  for (const field of PROBES) {
    const probe = container.inside(field);
    if (probe === undefined) continue;
    if (!HANDLERS.some((handler) => isFields(probe.get(handler)))) probe.missing('', 'must specify a handler type');
    probe.notNegative(...PROBE_NUMBERS);
  }
}

function checkMounts(container: Check, volumes: ReadonlySet<string>): void {
  const paths = new Set<string>();
  container.each('volumeMounts', (mount) => {
    const name = mount.require('name');
    if (name !== '' && !volumes.has(name)) mount.notFound('name', name);
    const path = mount.require('mountPath');
    if (paths.has(path)) mount.invalid('mountPath', path, 'must be unique');
    paths.add(path);
  });
}

function isKnownResource(name: string): boolean {
  return STANDARD.has(name) || name.startsWith('hugepages-') || name.includes('/');
}

function checkResources(container: Check): void {
  const limits = fieldsAt(container.value, 'resources', 'limits') ?? {};
  const requests = fieldsAt(container.value, 'resources', 'requests') ?? {};
  for (const [which, amounts] of Object.entries({ limits, requests })) {
    for (const name of Object.keys(amounts).sort()) {
      const place = `resources.${which}[${name}]`;
      container.problems(place, name, resourceNameProblems);
      const amount = Quantity.tryParse(amounts[name] as string);
      if (amount === undefined) continue;
      if (amount.sign() < 0) container.invalid(place, amount.toString(), 'must be greater than or equal to 0');
      else if (name.includes('/') && amount.nanoValue() % 1_000_000_000n !== 0n) {
        container.invalid(place, amount.toString(), 'must be an integer');
      }
    }
  }
  for (const name of Object.keys(requests).sort()) {
    const request = Quantity.tryParse(requests[name] as string);
    const limit = limits[name] === undefined ? undefined : Quantity.tryParse(limits[name] as string);
    if (request === undefined) continue;
    // Extended resources cannot be overcommitted: request and limit must be equal.
    const isExact = name.includes('/') && !name.startsWith('kubernetes.io/');
    if (limit === undefined) {
      if (isExact) container.missing('resources.limits', 'Limit must be set for non overcommitable resources');
    } else if (isExact ? !request.equals(limit) : request.compare(limit) > 0) {
      const why = `must be ${isExact ? 'equal to' : 'less than or equal to'} ${name} limit of ${limit.toString()}`;
      container.invalid('resources.requests', request.toString(), why);
    }
  }
}

function resourceNameProblems(name: string): readonly string[] {
  const problems = qualifiedNameProblems(name);
  if (isKnownResource(name)) return problems;
  const standard = problems.length === 0 ? ['must be a standard resource type or fully qualified'] : problems;
  return [...standard, 'must be a standard resource for containers'];
}
