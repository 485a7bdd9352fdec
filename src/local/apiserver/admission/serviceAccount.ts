/** Sets the service account of a new pod, and mounts the account's token. */
import { deepFreeze, isFields, listAt, setDefaults, textAt, type ApiObject, type Fields } from '../fields.ts';
import type { StrategyContext } from '../resource.ts';
import { forbidden } from '../status.ts';

const PODS = { group: '', plural: 'pods' };
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

/** One frozen object that all pods share. */
const TOKEN_SOURCES: Fields = deepFreeze({
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ],
  defaultMode: 0o644,
});

export function admitServiceAccount(pod: ApiObject, spec: Fields, context: StrategyContext): void {
  setDefaults(spec, { serviceAccountName: 'default' });
  if (spec['serviceAccountName'] === '') spec['serviceAccountName'] = 'default';
  spec['serviceAccount'] = spec['serviceAccountName'];
  const { namespace = '' } = pod.metadata;
  const name = textAt(spec, 'serviceAccountName') ?? '';
  const account = context.find('', 'serviceaccounts', `${namespace}/${name}`);
  if (account === undefined) {
    const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
    throw forbidden(PODS, pod.metadata.name, why);
  }
  if ((spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken']) === false) return;
  mountToken(spec, context);
}

function mountToken(spec: Fields, context: StrategyContext): void {
  const lists = ['initContainers', 'containers'].map((list) => listAt(spec, list));
  const isMounted = (container: unknown): boolean =>
    listAt(container, 'volumeMounts').some((mount) => textAt(mount, 'mountPath') === MOUNT_PATH);
  const unmounted = lists.flat().filter((container) => isFields(container) && !isMounted(container)) as Fields[];
  if (unmounted.length === 0) return;
  const name = `kube-api-access-${context.suffix()}`;
  for (const container of unmounted) {
    container['volumeMounts'] = [...listAt(container, 'volumeMounts'), { name, readOnly: true, mountPath: MOUNT_PATH }];
  }
  spec['volumes'] = [...listAt(spec, 'volumes'), { name, projected: TOKEN_SOURCES }];
}
