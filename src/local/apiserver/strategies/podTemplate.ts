/** Default values of pod specs, of pods and templates. */
import { always, each, given } from '../defaults.ts';
import { ensureFields, fieldsAt, isFields, listAt, setDefaults, textAt, type Fields } from '../fields.ts';

const HTTP = { httpGet: given({ path: '/', scheme: 'HTTP' }) };
const FIELD = { fieldRef: given({ apiVersion: 'v1' }) };
const PROBE = given({
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
  ...HTTP,
  grpc: given({ service: '' }),
});
const CONTAINERS = each({
  imagePullPolicy: (container: Fields) => pullPolicy(textAt(container, 'image') ?? ''),
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  resources: always({}),
  ports: each({ protocol: 'TCP' }),
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  startupProbe: PROBE,
  lifecycle: given({ postStart: given(HTTP), preStop: given(HTTP) }),
  env: each({ valueFrom: given(FIELD) }),
});
const FILES = { defaultMode: 0o644 };
const DOWNWARD = { items: each(FIELD) };
const VOLUMES = each({
  emptyDir: (volume: Fields) => (Object.keys(volume).every((name) => name === 'name') ? {} : undefined),
  configMap: given(FILES),
  secret: given(FILES),
  downwardAPI: given({ ...FILES, ...DOWNWARD }),
  projected: given({
    ...FILES,
    sources: each({ downwardAPI: given(DOWNWARD), serviceAccountToken: given({ expirationSeconds: 3600 }) }),
  }),
  hostPath: given({ type: '' }),
  ephemeral: given({ volumeClaimTemplate: given({ spec: given({ volumeMode: 'Filesystem' }) }) }),
});

export const POD_SPEC = always(
  {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: always({}),
    initContainers: CONTAINERS,
    containers: CONTAINERS,
    ephemeralContainers: CONTAINERS,
    volumes: VOLUMES,
  },
  settlePodSpec,
);
export const TEMPLATE = given({ spec: given(POD_SPEC.tree, settlePodSpec) });

function settlePodSpec(spec: Fields): void {
  // Upstream treats a negative grace period as one second.
  if (Number(spec['terminationGracePeriodSeconds']) < 0) spec['terminationGracePeriodSeconds'] = 1;
  // Both fields have the same value; the newer one wins.
  const named = textAt(spec, 'serviceAccountName') ?? '';
  const account = named === '' ? (textAt(spec, 'serviceAccount') ?? '') : named;
  if (account !== '') Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  if (spec['hostNetwork'] !== true) return;
  for (const port of listAt(spec, 'containers').flatMap((container) => listAt(container, 'ports'))) {
    if (isFields(port)) setDefaults(port, { hostPort: port['containerPort'] });
  }
}

/** Defaults requests to limits, for pods but not for templates. */
export function requestLimits(spec: Fields): void {
  for (const container of [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')]) {
    const resources = fieldsAt(container, 'resources');
    const limits = fieldsAt(resources, 'limits');
    if (resources !== undefined && limits !== undefined) setDefaults(ensureFields(resources, 'requests'), limits);
  }
}

/** Only images with the tag `latest` are always pulled. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return 'IfNotPresent';
  const tag = name.includes(':') ? name.slice(name.indexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Warns of accepted values that are probably mistakes. */
export function warnAboutPodSpec(spec: Fields, path: string, warn: ((message: string) => void) | undefined): void {
  listAt(spec, 'imagePullSecrets').forEach((secret, index) => {
    const name = textAt(secret, 'name') ?? '';
    if (name === '') warn?.(`${path}.imagePullSecrets[${index}].name: invalid empty name ""`);
  });
}
