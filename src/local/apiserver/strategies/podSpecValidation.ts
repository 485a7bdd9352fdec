/**
 * What a pod spec must look like, alone or inside a template. In: a defaulted spec and its place in the object. Out:
 * field errors in upstream's order and words.
 */
import { fieldsAt, isFields, listAt, numberAt, textAt, type Fields } from '../fields.ts';
import { labelProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';
import {
  duplicateValue,
  forbiddenChange,
  invalidValue,
  required,
  unsupportedValue,
  type FieldError,
} from '../status.ts';
import { checkContainers } from './containerValidation.ts';
import { checkAffinity, checkSpread, checkTolerations } from './placementValidation.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const MAX_SECONDS = 2_147_483_647;

export function checkPodSpec(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = checkVolumes(spec, path, errors);
  errors.push(...checkContainers(spec, path, volumes));
  const policy = textAt(spec, 'restartPolicy') ?? '';
  if (!RESTART_POLICIES.includes(policy)) {
    errors.push(unsupportedValue(`${path}.restartPolicy`, policy, RESTART_POLICIES));
  }
  const dns = textAt(spec, 'dnsPolicy') ?? '';
  if (!DNS_POLICIES.includes(dns)) errors.push(unsupportedValue(`${path}.dnsPolicy`, dns, DNS_POLICIES));
  for (const [key, value] of Object.entries(fieldsAt(spec, 'nodeSelector') ?? {})) {
    for (const why of qualifiedNameProblems(key)) errors.push(invalidValue(`${path}.nodeSelector`, key, why));
    if (typeof value !== 'string') errors.push(invalidValue(`${path}.nodeSelector`, value, 'must be a string'));
  }
  checkHostPorts(spec, path, errors);
  errors.push(...checkAffinity(spec, path));
  const gates = listAt(spec, 'schedulingGates');
  const node = textAt(spec, 'nodeName') ?? '';
  if (node !== '') for (const why of subdomainProblems(node)) errors.push(invalidValue(`${path}.nodeName`, node, why));
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_SECONDS)) {
    errors.push(
      invalidValue(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${MAX_SECONDS}, inclusive`),
    );
  }
  for (const field of ['hostname', 'subdomain']) {
    const name = textAt(spec, field) ?? '';
    if (name !== '') for (const why of labelProblems(name)) errors.push(invalidValue(`${path}.${field}`, name, why));
  }
  errors.push(...checkTolerations(spec, path));
  gates.forEach((gate, index) => {
    const name = textAt(gate, 'name') ?? '';
    for (const why of qualifiedNameProblems(name)) {
      errors.push(invalidValue(`${path}.schedulingGates[${index}]`, name, why));
    }
  });
  errors.push(...checkSpread(spec, path));
  return errors;
}

/** A pod with gates has no node yet; templates are not asked. */
export function checkGates(spec: Fields): FieldError[] {
  const bound = (textAt(spec, 'nodeName') ?? '') !== '';
  return bound && listAt(spec, 'schedulingGates').length > 0
    ? [forbiddenChange('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
    : [];
}

function checkVolumes(spec: Fields, path: string, errors: FieldError[]): Set<string> {
  const names = new Set<string>();
  listAt(spec, 'volumes').forEach((volume, index) => {
    const name = textAt(volume, 'name') ?? '';
    const place = `${path}.volumes[${index}].name`;
    if (name === '') errors.push(required(place));
    else for (const why of labelProblems(name)) errors.push(invalidValue(place, name, why));
    if (names.has(name)) errors.push(duplicateValue(place, name));
    names.add(name);
    const claim = fieldsAt(volume, 'persistentVolumeClaim');
    if (claim !== undefined && (textAt(claim, 'claimName') ?? '') === '') {
      errors.push(required(`${path}.volumes[${index}].persistentVolumeClaim.claimName`));
    }
  });
  return names;
}

function checkHostPorts(spec: Fields, path: string, errors: FieldError[]): void {
  if (spec['hostNetwork'] !== true) return;
  for (const list of ['containers', 'initContainers']) {
    listAt(spec, list).forEach((container, index) => {
      listAt(container, 'ports').forEach((port, at) => {
        const hostPort = isFields(port) ? port['hostPort'] : undefined;
        if (isFields(port) && hostPort !== port['containerPort']) {
          errors.push(
            invalidValue(
              `${path}.${list}[${index}].ports[${at}].hostPort`,
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          );
        }
      });
    });
  }
}
