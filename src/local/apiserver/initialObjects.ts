/**
 * What every cluster has before anybody comes. In: an empty cluster. Out: priority classes, the API's own service, the
 * default roles and bindings, flow control, and a record of each group version. The JSON lists what a Kubernetes release
 * creates when it starts, without what the server fills in.
 */
import bootstrapPolicy from './access/bootstrapPolicy.json' with { type: 'json' };
import flowControl from './builtin/flowControl.json' with { type: 'json' };
import type { Objects } from './objects.ts';
import { keyOf } from './store.ts';

const WRITE = { fieldManager: 'kube-apiserver', dryRun: false, fieldValidation: 'Ignore' } as const;

const SYSTEM_PRIORITIES = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'For pods that must not be moved from their node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description: 'For pods that must run somewhere in the cluster, if need be on another node.',
  },
];

export function createInitialObjects(objects: Objects): void {
  const create = (
    group: string,
    version: string,
    plural: string,
    namespace: string | undefined,
    body: { readonly metadata: { readonly name: string; readonly [field: string]: unknown }; [field: string]: unknown },
  ): void => {
    const resource = objects.catalog.find(group, version, plural);
    if (resource === undefined) throw new Error(`${plural} are not served`);
    if (objects.tableOf(resource).get(keyOf(namespace, body.metadata.name)) !== undefined) return;
    objects.create(resource, namespace, { ...body }, WRITE);
  };
  for (const { name, value, description } of SYSTEM_PRIORITIES) {
    create('scheduling.k8s.io', 'v1', 'priorityclasses', undefined, { metadata: { name }, value, description });
  }
  create('', 'v1', 'services', 'default', {
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 443 }] },
  });
  for (const { kind, metadata, ...rest } of bootstrapPolicy) {
    create('rbac.authorization.k8s.io', 'v1', `${kind.toLowerCase()}s`, (metadata as { namespace?: string }).namespace, {
      ...rest,
      metadata: {
        ...metadata,
        labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...(metadata as { labels?: object }).labels },
        annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
      },
    });
  }
  for (const { kind, metadata, spec } of flowControl) {
    create('flowcontrol.apiserver.k8s.io', 'v1', `${kind.toLowerCase()}s`, undefined, {
      metadata: { ...metadata, annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } },
      spec,
    });
  }
}
