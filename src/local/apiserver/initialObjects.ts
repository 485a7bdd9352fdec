/**
 * What every cluster has before anybody comes. In: an empty cluster. Out: priority classes, the API's own service; for
 * visitors the default roles and bindings, and flow control. The JSON lists what a Kubernetes release
 * creates when it starts, without what the server fills in.
 */
import bootstrapPolicy from './access/bootstrapPolicy.json' with { type: 'json' };
import flowControl from './builtin/flowControl.json' with { type: 'json' };
import { textAt, type ApiObject } from './fields.ts';
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

interface Body {
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

function creator(
  objects: Objects,
): (group: string, plural: string, namespace: string | undefined, body: Body) => ApiObject | undefined {
  return (group, plural, namespace, body) => {
    const resource = objects.catalog.find(group, 'v1', plural);
    if (resource === undefined) throw new Error(`${plural} are not served`);
    if (objects.tableOf(resource).get(keyOf(namespace, body.metadata.name)) !== undefined) return undefined;
    return objects.create(resource, namespace, { ...body }, WRITE);
  };
}

export function createInitialObjects(objects: Objects): void {
  const create = creator(objects);
  for (const { name, value, description } of SYSTEM_PRIORITIES) {
    create('scheduling.k8s.io', 'priorityclasses', undefined, { metadata: { name }, value, description });
  }
  create('', 'services', 'default', {
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 443 }] },
  });
}

/** What people find who look around. */
export function createVisitorObjects(objects: Objects): void {
  const create = creator(objects);
  for (const { kind, metadata, ...rest } of bootstrapPolicy) {
    create('rbac.authorization.k8s.io', `${kind.toLowerCase()}s`, (metadata as { namespace?: string }).namespace, {
      ...rest,
      metadata: {
        ...metadata,
        labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...(metadata as { labels?: object }).labels },
        annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
      },
    });
  }
  for (const { kind, metadata, spec } of flowControl) {
    const made = create('flowcontrol.apiserver.k8s.io', `${kind.toLowerCase()}s`, undefined, {
      metadata: { ...metadata, annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } },
      spec,
    });
    if (made !== undefined && kind === 'FlowSchema') confirmPriorityLevel(objects, made);
  }
  create('networking.k8s.io', 'servicecidrs', undefined, {
    metadata: { name: 'kubernetes' },
    spec: { cidrs: ['10.0.0.0/16'] },
  });
}

function confirmPriorityLevel(objects: Objects, schema: ApiObject): void {
  const resource = objects.catalog.find('flowcontrol.apiserver.k8s.io', 'v1', 'flowschemas');
  if (resource === undefined) return;
  const level = textAt(schema, 'spec', 'priorityLevelConfiguration', 'name') ?? '';
  const condition = {
    type: 'Dangling',
    status: 'False',
    lastTransitionTime: objects.now(),
    reason: 'Found',
    message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" and it exists`,
  };
  const request = { ...WRITE, subresource: 'status' };
  objects.update(resource, undefined, schema.metadata.name, request, (live) => ({
    ...live,
    status: { conditions: [condition] },
  }));
}
