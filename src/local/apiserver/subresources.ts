/** The subresources `scale`, `eviction` and `binding`. */
import type { DeleteOptions } from '../../kube/kube.ts';
import { topologyLabels } from './admission/topologyLabels.ts';
import { selectorText } from './columns/column.ts';
import { checkPreconditions, deleteObject } from './deletion.ts';
import { judgeEviction } from './disruptionBudget.ts';
import { at, copyJson, fieldsAt, isFields, listAt, numberAt, textAt, type ApiObject, type Fields } from './fields.ts';
import type { Change, Objects } from './objects.ts';
import type { Target } from './resource.ts';
import { pathNames, type Resource, type ScalePaths } from './resource.ts';
import { conflict, invalid, invalidValue, unclassified, unknownPath, unsupportedValue } from './status.ts';
import { keyOf } from './store.ts';
import { serverWrite, type WriteRequest } from './writeRequest.ts';

const BUDGET_WRITE = serverWrite('kube-apiserver', 'status');
const BINDINGS = { group: '', plural: 'pods/binding' };

function pathsOf(resource: Resource): ScalePaths {
  if (resource.scale === undefined) throw unknownPath();
  return resource.scale;
}

/** Returns the `autoscaling/v1 Scale` of an object. */
export function readScale(resource: Resource, object: ApiObject): ApiObject {
  const scale = pathsOf(resource);
  const selector = scale.selector === undefined ? undefined : at(object, ...pathNames(scale.selector));
  const text =
    typeof selector === 'string' ? selector : selector === undefined ? '' : selectorText(asSelector(selector));
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: copyJson({ name, namespace, uid, resourceVersion, creationTimestamp }) as ApiObject['metadata'],
    spec: { replicas: numberAt(object, ...pathNames(scale.specReplicas)) ?? 0 },
    status: {
      replicas: numberAt(object, ...pathNames(scale.statusReplicas)) ?? 0,
      ...(text === '' || text === '<none>' ? {} : { selector: text }),
    },
  };
}

/** Returns a LabelSelector, which for ReplicationControllers is made of their map of labels. */
function asSelector(selector: unknown): unknown {
  return isFields(selector) && !('matchLabels' in selector) && !('matchExpressions' in selector)
    ? { matchLabels: selector }
    : selector;
}

export function writeScale(objects: Objects, target: Target, request: WriteRequest, change: Change): ApiObject {
  const { resource, name } = target;
  const scale = pathsOf(resource);
  const updated = objects.update(target, request, (live) => {
    const wanted = change(readScale(resource, live));
    const replicas = at(wanted, 'spec', 'replicas') ?? 0;
    if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
      const error = invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0');
      throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [error]);
    }
    const draft = copyJson(live);
    setAt(draft, pathNames(scale.specReplicas), replicas);
    const version = textAt(wanted, 'metadata', 'resourceVersion');
    if (version !== undefined) draft.metadata.resourceVersion = version;
    return draft;
  });
  return readScale(resource, updated);
}

function setAt(target: Fields, names: readonly string[], value: unknown): void {
  let current = target;
  for (const name of names.slice(0, -1)) {
    const next = current[name];
    const made = isFields(next) ? next : {};
    current[name] = made;
    current = made;
  }
  current[names.at(-1) ?? ''] = value;
}

/** POST pods/eviction: deletes the pod if its disruption budget allows it. */
export function evictPod(objects: Objects, target: Target, options: DeleteOptions): void {
  const pod = objects.get(target);
  const { namespace } = target;
  const resource = objects.builtin('policy', 'poddisruptionbudgets');
  const { budget } = judgeEviction(pod, objects.tableOf(resource).page({ namespace }).items, objects.now());
  const { preconditions: _checked, ...others } = options;
  if (budget !== undefined && options.dryRun !== true) {
    const { object, status } = budget;
    const place = { resource, namespace, name: object.metadata.name };
    objects.update(place, BUDGET_WRITE, () => ({ ...object, status }));
  }
  // They hold for the pod without the condition, whose write changes the resourceVersion.
  checkPreconditions(target.resource, pod, options);
  if (pod.metadata.deletionTimestamp === undefined && options.dryRun !== true) {
    const why = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };
    const status = withCondition(objects, pod, 'DisruptionTarget', why);
    const key = keyOf(namespace, target.name);
    objects.tableOf(target.resource).put(key, { ...pod, metadata: { ...pod.metadata }, status });
  }
  deleteObject(objects, target, others);
}

/** Returns the status of a pod with a condition set to True. */
function withCondition(objects: Objects, pod: ApiObject, type: string, why: object = {}): Fields {
  const others = listAt(pod, 'status', 'conditions').filter((entry) => textAt(entry, 'type') !== type);
  const condition = { type, status: 'True', lastProbeTime: null, lastTransitionTime: objects.now(), ...why };
  return { ...fieldsAt(pod, 'status'), conditions: [...others, condition] };
}

/** POST pods/binding: assigns an unbound pod to a node. */
export function bindPod(objects: Objects, target: Target, binding: Fields, dryRun: boolean): void {
  const { resource, name } = target;
  const node = textAt(binding, 'target', 'name') ?? '';
  const kind = textAt(binding, 'target', 'kind') ?? '';
  if (kind !== '' && kind !== 'Node') {
    throw unclassified(`target.kind: ${unsupportedValue('', kind, ['Node', '<empty>']).message}`);
  }
  if (node === '') throw unclassified('target.name: Required value');
  const pod = objects.stored(target);
  const { deletionTimestamp, uid = '' } = pod.metadata;
  const expected = textAt(binding, 'metadata', 'uid') ?? uid;
  if (expected !== uid) {
    const why = `Precondition failed: UID in precondition: ${expected}, UID in object meta: ${uid}`;
    throw conflict(resource, name, why);
  }
  const current = textAt(pod, 'spec', 'nodeName') ?? '';
  const refuse = (why: string): Error => conflict(BINDINGS, name, `pod ${name} ${why}`);
  if (deletionTimestamp !== undefined) throw refuse('is being deleted, cannot be assigned to a host');
  if (current !== '') throw refuse(`is already assigned to node "${current}"`);
  if (listAt(pod, 'spec', 'schedulingGates').length > 0) throw refuse('has non-empty .spec.schedulingGates');
  if (dryRun) return;
  const annotations = fieldsAt(binding, 'metadata', 'annotations') as Record<string, string> | undefined;
  const labels = topologyLabels(objects.context, node);
  const metadata = {
    ...pod.metadata,
    ...(annotations && { annotations: { ...pod.metadata.annotations, ...annotations } }),
    ...(labels && { labels: { ...pod.metadata.labels, ...labels } }),
  };
  // A bound pod needs no nomination.
  const { nominatedNodeName: _nominated, ...status } = withCondition(objects, pod, 'PodScheduled');
  const spec = { ...fieldsAt(pod, 'spec'), nodeName: node };
  objects.tableOf(resource).put(keyOf(target.namespace, name), { ...pod, metadata, spec, status });
}
