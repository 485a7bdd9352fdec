/** Validates a pod spec with defaults, of a pod or a template. */
import { fieldsAt, isFields } from '../fields.ts';
import { labelProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';
import type { Check } from './check.ts';
import { checkContainers } from './containerValidation.ts';
import { checkAffinity, checkSpread, checkTolerations } from './placementValidation.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const MAX_SECONDS = 2_147_483_647;

export function checkPodSpec(spec: Check): void {
  checkContainers(spec, checkVolumes(spec));
  spec.oneOf('restartPolicy', RESTART_POLICIES);
  spec.oneOf('dnsPolicy', DNS_POLICIES);
  for (const key of Object.keys(fieldsAt(spec.value, 'nodeSelector') ?? {})) {
    spec.problems('nodeSelector', key, qualifiedNameProblems);
  }
  checkHostPorts(spec);
  checkAffinity(spec);
  const given = (name: string, problems: (text: string) => readonly string[]): void => {
    if (spec.text(name) !== '') spec.problems(name, spec.text(name), problems);
  };
  given('nodeName', subdomainProblems);
  spec.between('activeDeadlineSeconds', spec.number('activeDeadlineSeconds'), 1, MAX_SECONDS);
  given('hostname', labelProblems);
  given('subdomain', labelProblems);
  checkTolerations(spec);
  spec.each('schedulingGates', (gate) => gate.problems('', gate.text('name'), qualifiedNameProblems));
  checkSpread(spec);
}

/** Rejects a new pod with scheduling gates and a node; does not apply to templates. */
export function checkGates(spec: Check): void {
  if (spec.text('nodeName') !== '' && spec.list('schedulingGates').length > 0) {
    spec.forbidden('nodeName', 'cannot be set until all schedulingGates have been cleared');
  }
}

function checkVolumes(spec: Check): Set<string> {
  const names = new Set<string>();
  spec.each('volumes', (volume) => {
    const name = volume.require('name');
    if (name !== '') volume.problems('name', name, labelProblems);
    if (names.has(name)) volume.duplicate('name', name);
    names.add(name);
    volume.inside('persistentVolumeClaim')?.require('claimName');
  });
  return names;
}

function checkHostPorts(spec: Check): void {
  if (spec.get('hostNetwork') !== true) return;
  for (const list of ['containers', 'initContainers']) {
    spec.each(list, (container) =>
      container.each('ports', (port) => {
        if (!isFields(port.value) || port.get('hostPort') === port.get('containerPort')) return;
        port.invalid('hostPort', port.get('hostPort'), 'must match `containerPort` when `hostNetwork` is true');
      }),
    );
  }
}
