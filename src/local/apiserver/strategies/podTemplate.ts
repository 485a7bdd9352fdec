/** Defaults of everything that contains a pod spec. */
import { ensureFields, fieldsAt, isFields, listAt, setDefaults, textAt, type Fields } from '../fields.ts';

export function defaultPodSpec(spec: Fields): void {
  setDefaults(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
  });
  // A negative grace once meant the shortest one, and still does.
  if (Number(spec['terminationGracePeriodSeconds']) < 0) spec['terminationGracePeriodSeconds'] = 1;
  ensureFields(spec, 'securityContext');
  // The older field follows the newer one.
  const named = textAt(spec, 'serviceAccountName') ?? '';
  const account = named === '' ? (textAt(spec, 'serviceAccount') ?? '') : named;
  if (account !== '') Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  for (const name of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of listAt(spec, name)) if (isFields(container)) defaultContainer(container);
  }
  for (const volume of listAt(spec, 'volumes')) if (isFields(volume)) defaultVolume(volume);
  if (spec['hostNetwork'] === true) {
    for (const container of listAt(spec, 'containers')) {
      for (const port of listAt(container, 'ports')) {
        if (isFields(port)) setDefaults(port, { hostPort: port['containerPort'] });
      }
    }
  }
}

function defaultContainer(container: Fields): void {
  setDefaults(container, {
    imagePullPolicy: pullPolicy(textAt(container, 'image') ?? ''),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  ensureFields(container, 'resources');
  for (const port of listAt(container, 'ports')) if (isFields(port)) setDefaults(port, { protocol: 'TCP' });
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = fieldsAt(container, name);
    if (probe === undefined) continue;
    setDefaults(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
    const http = fieldsAt(probe, 'httpGet');
    if (http !== undefined) setDefaults(http, { path: '/', scheme: 'HTTP' });
    const grpc = fieldsAt(probe, 'grpc');
    if (grpc !== undefined) setDefaults(grpc, { service: '' });
  }
  for (const hook of ['postStart', 'preStop']) {
    const http = fieldsAt(container, 'lifecycle', hook, 'httpGet');
    if (http !== undefined) setDefaults(http, { path: '/', scheme: 'HTTP' });
  }
  for (const variable of listAt(container, 'env')) {
    const reference = fieldsAt(variable, 'valueFrom', 'fieldRef');
    if (reference !== undefined) setDefaults(reference, { apiVersion: 'v1' });
  }
}

/** Of pods only, not of templates: a limit without a request is a request of the same size. */
export function requestLimits(spec: Fields): void {
  for (const name of ['initContainers', 'containers']) {
    for (const container of listAt(spec, name)) {
      const resources = fieldsAt(container, 'resources');
      const limits = fieldsAt(resources, 'limits');
      if (resources !== undefined && limits !== undefined) setDefaults(ensureFields(resources, 'requests'), limits);
    }
  }
}

/** Only a tag that moves is pulled every time. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return 'IfNotPresent';
  const tag = name.includes(':') ? name.slice(name.indexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const FILE_MODE = 0o644;

function defaultVolume(volume: Fields): void {
  if (Object.keys(volume).every((name) => name === 'name')) volume['emptyDir'] = {};
  for (const source of ['configMap', 'secret', 'downwardAPI', 'projected']) {
    const fields = fieldsAt(volume, source);
    if (fields !== undefined) setDefaults(fields, { defaultMode: FILE_MODE });
  }
  const hostPath = fieldsAt(volume, 'hostPath');
  if (hostPath !== undefined) setDefaults(hostPath, { type: '' });
  const fieldRefs = [listAt(volume, 'downwardAPI', 'items')];
  for (const source of listAt(volume, 'projected', 'sources')) {
    fieldRefs.push(listAt(source, 'downwardAPI', 'items'));
    const token = fieldsAt(source, 'serviceAccountToken');
    if (token !== undefined) setDefaults(token, { expirationSeconds: 3600 });
  }
  for (const item of fieldRefs.flat()) {
    const reference = fieldsAt(item, 'fieldRef');
    if (reference !== undefined) setDefaults(reference, { apiVersion: 'v1' });
  }
  const claim = fieldsAt(volume, 'ephemeral', 'volumeClaimTemplate', 'spec');
  if (claim !== undefined) setDefaults(claim, { volumeMode: 'Filesystem' });
}

/** Accepted, and probably a mistake. */
export function warnAboutPodSpec(spec: Fields, path: string, warn: ((message: string) => void) | undefined): void {
  listAt(spec, 'imagePullSecrets').forEach((secret, index) => {
    const name = textAt(secret, 'name') ?? '';
    if (name === '') warn?.(`${path}.imagePullSecrets[${index}].name: invalid empty name ""`);
  });
}

/** A template's pod spec, and `metadata.creationTimestamp` gone: kubectl sends it as null. */
export function defaultPodTemplate(owner: Fields): void {
  const template = fieldsAt(owner, 'template');
  if (template === undefined) return;
  const spec = fieldsAt(template, 'spec');
  if (spec !== undefined) defaultPodSpec(spec);
}
