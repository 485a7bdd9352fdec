/** What every cluster has before anybody comes. In: an empty cluster. Out: priority classes, the API's own service. */
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
}
