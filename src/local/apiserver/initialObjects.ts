/**
 * The objects of every new cluster: priority classes and the service of the API; once it is served over the network, the
 * default roles, bindings and flow control. The JSON files list what a Kubernetes release creates at its start, without
 * default values.
 */
import bootstrapPolicy from './access/bootstrapPolicy.json' with { type: 'json' };
import flowControl from './builtin/flowControl.json' with { type: 'json' };
import { textAt, type ApiObject } from './fields.ts';
import type { Objects } from './objects.ts';
import { keyOf } from './store.ts';
import { serverWrite } from './writeRequest.ts';

const WRITER = 'kube-apiserver';

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

/** Creates an object; returns undefined if it exists. */
function create(
  objects: Objects,
  group: string,
  plural: string,
  body: Body,
  namespace?: string,
): ApiObject | undefined {
  const resource = objects.builtin(group, plural);
  if (objects.tableOf(resource).get(keyOf(namespace, body.metadata.name)) !== undefined) return undefined;
  return objects.create(resource, namespace, { ...body }, serverWrite(WRITER));
}

export function createInitialObjects(objects: Objects): void {
  for (const { name, value, description } of SYSTEM_PRIORITIES) {
    create(objects, 'scheduling.k8s.io', 'priorityclasses', { metadata: { name }, value, description });
  }
  const metadata = { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } };
  const spec = { ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 443 }] };
  create(objects, '', 'services', { metadata, spec }, 'default');
}

/** Creates the objects that are only needed for clients on the network. */
export function createNetworkObjects(objects: Objects): void {
  for (const { kind, metadata, ...rest } of bootstrapPolicy) {
    const { labels, namespace } = metadata as { labels?: object; namespace?: string };
    const marked = {
      ...metadata,
      labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    };
    create(objects, 'rbac.authorization.k8s.io', `${kind.toLowerCase()}s`, { ...rest, metadata: marked }, namespace);
  }
  for (const { kind, metadata, spec } of flowControl) {
    const marked = { ...metadata, annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } };
    const body = { metadata: marked, spec };
    const made = create(objects, 'flowcontrol.apiserver.k8s.io', `${kind.toLowerCase()}s`, body);
    if (made !== undefined && kind === 'FlowSchema') confirmPriorityLevel(objects, made);
  }
  const range = { metadata: { name: 'kubernetes' }, spec: { cidrs: ['10.0.0.0/16'] } };
  create(objects, 'networking.k8s.io', 'servicecidrs', range);
}

function confirmPriorityLevel(objects: Objects, schema: ApiObject): void {
  const resource = objects.builtin('flowcontrol.apiserver.k8s.io', 'flowschemas');
  const level = textAt(schema, 'spec', 'priorityLevelConfiguration', 'name') ?? '';
  const condition = {
    type: 'Dangling',
    status: 'False',
    lastTransitionTime: objects.now(),
    reason: 'Found',
    message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" and it exists`,
  };
  const target = { resource, namespace: undefined, name: schema.metadata.name };
  objects.setStatus(target, WRITER, { conditions: [condition] });
}
