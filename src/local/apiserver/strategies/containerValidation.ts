/** What containers must look like. In: a pod spec, its place, its volumes. Out: field errors in upstream's words. */
import { Quantity } from '../../../units/quantity.ts';
import { at, fieldsAt, isFields, listAt, numberAt, textAt, type Fields } from '../fields.ts';
import { labelProblems, qualifiedNameProblems } from '../names.ts';
import { duplicateValue, invalidValue, notFoundValue, required, unsupportedValue, type FieldError } from '../status.ts';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MAX_PORT = 65_535;
const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage', 'storage']);
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const PROBE_SECONDS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

export function checkContainers(spec: Fields, path: string, volumes: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  if (listAt(spec, 'containers').length === 0) errors.push(required(`${path}.containers`));
  for (const list of ['containers', 'initContainers']) {
    listAt(spec, list).forEach((container, index) => {
      const place = `${path}.${list}[${index}]`;
      const name = textAt(container, 'name') ?? '';
      if (name === '') errors.push(required(`${place}.name`));
      else for (const why of labelProblems(name)) errors.push(invalidValue(`${place}.name`, name, why));
      if (name !== '' && names.has(name)) errors.push(duplicateValue(`${place}.name`, name));
      names.add(name);
      errors.push(...checkContainer(container, place, volumes));
    });
  }
  return errors;
}

function checkContainer(container: unknown, path: string, volumes: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = [];
  if ((textAt(container, 'image') ?? '') === '') errors.push(required(`${path}.image`));
  errors.push(...checkPorts(container, path), ...checkEnvironment(container, path));
  errors.push(...checkMounts(container, path, volumes));
  const policy = textAt(container, 'imagePullPolicy') ?? '';
  if (!PULL_POLICIES.includes(policy)) {
    errors.push(unsupportedValue(`${path}.imagePullPolicy`, policy, PULL_POLICIES));
  }
  errors.push(...checkResources(container, `${path}.resources`));
  for (const probe of PROBES) {
    const fields = fieldsAt(container, probe);
    if (fields !== undefined) errors.push(...checkProbe(fields, `${path}.${probe}`));
  }
  return errors;
}

const portRange = (field: string, value: unknown): FieldError =>
  invalidValue(field, value, `must be between 1 and ${MAX_PORT}, inclusive`);

function checkPorts(container: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  listAt(container, 'ports').forEach((port, index) => {
    const place = `${path}.ports[${index}]`;
    const number = numberAt(port, 'containerPort') ?? 0;
    if (number === 0) errors.push(required(`${place}.containerPort`));
    else if (number < 1 || number > MAX_PORT) errors.push(portRange(`${place}.containerPort`, number));
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort < 0 || hostPort > MAX_PORT) errors.push(portRange(`${place}.hostPort`, hostPort));
    const protocol = textAt(port, 'protocol') ?? '';
    if (!PROTOCOLS.includes(protocol)) errors.push(unsupportedValue(`${place}.protocol`, protocol, PROTOCOLS));
  });
  return errors;
}

function checkEnvironment(container: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  listAt(container, 'env').forEach((variable, index) => {
    const place = `${path}.env[${index}]`;
    if ((textAt(variable, 'name') ?? '') === '') errors.push(required(`${place}.name`));
    const source = fieldsAt(variable, 'valueFrom');
    if (source !== undefined && (textAt(variable, 'value') ?? '') !== '') {
      errors.push(invalidValue(`${place}.valueFrom`, '', 'may not be specified when `value` is not empty'));
    }
  });
  return errors;
}

function checkMounts(container: unknown, path: string, volumes: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = [];
  const paths = new Set<string>();
  listAt(container, 'volumeMounts').forEach((mount, index) => {
    const place = `${path}.volumeMounts[${index}]`;
    const name = textAt(mount, 'name') ?? '';
    const mountPath = textAt(mount, 'mountPath') ?? '';
    if (name === '') errors.push(required(`${place}.name`));
    else if (!volumes.has(name)) errors.push(notFoundValue(`${place}.name`, name));
    if (mountPath === '') errors.push(required(`${place}.mountPath`));
    if (paths.has(mountPath)) errors.push(invalidValue(`${place}.mountPath`, mountPath, 'must be unique'));
    paths.add(mountPath);
  });
  return errors;
}

function isKnownResource(name: string): boolean {
  return STANDARD.has(name) || name.startsWith('hugepages-') || name.includes('/');
}

function checkResources(container: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const limits = fieldsAt(container, 'resources', 'limits') ?? {};
  const requests = fieldsAt(container, 'resources', 'requests') ?? {};
  for (const [which, amounts] of [
    ['limits', limits],
    ['requests', requests],
  ] as const) {
    for (const name of Object.keys(amounts).sort()) {
      const place = `${path}.${which}[${name}]`;
      errors.push(...checkResourceName(name, place));
      const amount = Quantity.tryParse(amounts[name] as string);
      if (amount === undefined) continue;
      const shown = amount.toString();
      if (amount.sign() < 0) errors.push(invalidValue(place, shown, 'must be greater than or equal to 0'));
      else if (name.includes('/') && amount.nanoValue() % 1_000_000_000n !== 0n) {
        errors.push(invalidValue(place, shown, 'must be an integer'));
      }
    }
  }
  for (const name of Object.keys(requests).sort()) {
    const request = Quantity.tryParse(requests[name] as string);
    const limit = limits[name] === undefined ? undefined : Quantity.tryParse(limits[name] as string);
    if (request === undefined) continue;
    const isExtended = name.includes('/') && !name.startsWith('kubernetes.io/');
    if (limit === undefined) {
      if (isExtended) {
        errors.push(required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
      }
    } else if (isExtended && !request.equals(limit)) {
      const why = `must be equal to ${name} limit of ${limit.toString()}`;
      errors.push(invalidValue(`${path}.requests`, request.toString(), why));
    } else if (!isExtended && request.compare(limit) > 0) {
      const why = `must be less than or equal to ${name} limit of ${limit.toString()}`;
      errors.push(invalidValue(`${path}.requests`, request.toString(), why));
    }
  }
  return errors;
}

function checkResourceName(name: string, place: string): FieldError[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length === 0 && !isKnownResource(name)) {
    problems.push('must be a standard resource type or fully qualified');
  }
  if (!isKnownResource(name)) problems.push('must be a standard resource for containers');
  return problems.map((why) => invalidValue(place, name, why));
}

function checkProbe(probe: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const handlers = HANDLERS.filter((handler) => isFields(at(probe, handler)));
  if (handlers.length === 0) errors.push(required(path, 'must specify a handler type'));
  for (const field of PROBE_SECONDS) {
    const value = numberAt(probe, field) ?? 0;
    if (value < 0) errors.push(invalidValue(`${path}.${field}`, value, 'must be greater than or equal to 0'));
  }
  return errors;
}
