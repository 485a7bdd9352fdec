/** The doors beside the object itself. In: requests on `scale`, `eviction`, `binding`. Out: their effects on objects. */
import type { DeleteOptions } from '../../kube/kube.ts';
import { topologyLabels } from './admission/topologyLabels.ts';
import { deleteObject } from './deletion.ts';
import { judgeEviction } from './disruptionBudget.ts';
import { at, copyJson, fieldsAt, isFields, listAt, numberAt, textAt, type ApiObject, type Fields } from './fields.ts';
import type { Objects, WriteRequest } from './objects.ts';
import { pathNames, type Resource, type ScalePaths } from './resource.ts';
import { keyOf } from './store.ts';
import { conflict, invalid, invalidValue, notFound, unclassified, unknownPath, unsupportedValue } from './status.ts';
import { selectorText } from './columns/column.ts';

/** Budgets are the server's to charge. */
const BUDGET_WRITE: WriteRequest = {
  fieldManager: 'kube-apiserver',
  dryRun: false,
  fieldValidation: 'Ignore',
  subresource: 'status',
};
const BINDINGS = { group: '', plural: 'pods/binding' };

function paths(resource: Resource): ScalePaths {
  if (resource.scale === undefined) throw unknownPath();
  return resource.scale;
}

/** An `autoscaling/v1 Scale` as a view on an object. */
export function readScale(resource: Resource, object: ApiObject): ApiObject {
  const scale = paths(resource);
  const selector = scale.selector === undefined ? undefined : at(object, ...pathNames(scale.selector));
  const text =
    typeof selector === 'string' ? selector : selector === undefined ? '' : selectorText(asSelector(selector));
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { replicas: numberAt(object, ...pathNames(scale.specReplicas)) ?? 0 },
    status: {
      replicas: numberAt(object, ...pathNames(scale.statusReplicas)) ?? 0,
      ...(text === '' || text === '<none>' ? {} : { selector: text }),
    },
  };
}

/** ReplicationControllers select by a bare map. */
function asSelector(selector: unknown): unknown {
  return isFields(selector) && !('matchLabels' in selector) && !('matchExpressions' in selector)
    ? { matchLabels: selector }
    : selector;
}

export function writeScale(
  objects: Objects,
  resource: Resource,
  namespace: string | undefined,
  name: string,
  request: WriteRequest,
  change: (scale: ApiObject) => Fields,
): ApiObject {
  const scale = paths(resource);
  const updated = objects.update(resource, namespace, name, request, (live) => {
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

/** POST pods/eviction: a delete that asks the pod's disruption budget first. */
export function evictPod(
  objects: Objects,
  resource: Resource,
  namespace: string | undefined,
  name: string,
  options: DeleteOptions,
  now: number,
): void {
  const pod = objects.get(resource, namespace, name);
  const budgets = objects.store.table('policy', 'poddisruptionbudgets');
  const inNamespace = budgets.page({ namespace }).items;
  const { budget } = judgeEviction(pod, inNamespace, objects.now());
  if (budget !== undefined && options.dryRun !== true) {
    const { object, status } = budget;
    const kind = objects.catalog.find('policy', 'v1', 'poddisruptionbudgets');
    if (kind !== undefined)
      objects.update(kind, namespace, object.metadata.name, BUDGET_WRITE, () => ({ ...object, status }));
  }
  if (options.dryRun !== true) markDisrupted(objects, resource, pod);
  deleteObject(objects, resource, namespace, name, options, now);
}

/** Whoever finds the pod ended can tell that it was asked to leave. */
function markDisrupted(objects: Objects, resource: Resource, pod: ApiObject): void {
  if (pod.metadata.deletionTimestamp !== undefined) return;
  const conditions = listAt(pod, 'status', 'conditions').filter(
    (entry) => textAt(entry, 'type') !== 'DisruptionTarget',
  );
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: objects.now(),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  objects.tableOf(resource).put(keyOf(pod.metadata.namespace, pod.metadata.name), {
    ...pod,
    metadata: { ...pod.metadata },
    status: { ...fieldsAt(pod, 'status'), conditions: [...conditions, condition] },
  });
}

/** POST pods/binding: gives a pod its node, once. */
export function bindPod(
  objects: Objects,
  resource: Resource,
  namespace: string | undefined,
  name: string,
  binding: Fields,
  request: { readonly dryRun: boolean },
): void {
  const node = textAt(binding, 'target', 'name') ?? '';
  const kind = textAt(binding, 'target', 'kind') ?? '';
  if (kind !== '' && kind !== 'Node') {
    throw unclassified(`target.kind: ${unsupportedValue('', kind, ['Node', '<empty>']).message}`);
  }
  if (node === '') throw unclassified('target.name: Required value');
  const table = objects.tableOf(resource);
  const stored = table.get(keyOf(namespace, name));
  if (stored === undefined) throw notFound(resource, name);
  const { deletionTimestamp, uid } = stored.metadata;
  const expected = textAt(binding, 'metadata', 'uid');
  if (expected !== undefined && expected !== uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${expected}, UID in object meta: ${uid ?? ''}`,
    );
  }
  if (deletionTimestamp !== undefined)
    throw conflict(BINDINGS, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  const current = textAt(stored, 'spec', 'nodeName') ?? '';
  if (current !== '') throw conflict(BINDINGS, name, `pod ${name} is already assigned to node "${current}"`);
  if (listAt(stored, 'spec', 'schedulingGates').length > 0) {
    throw conflict(BINDINGS, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  if (request.dryRun) return;
  const conditions = listAt(stored, 'status', 'conditions').filter((entry) => textAt(entry, 'type') !== 'PodScheduled');
  const labels = topologyLabels(objects.context, node);
  // The nomination has come true.
  const { nominatedNodeName: _nominated, ...status } = fieldsAt(stored, 'status') ?? {};
  table.put(keyOf(namespace, name), {
    ...stored,
    metadata: {
      ...stored.metadata,
      ...(Object.keys(labels).length > 0 && { labels: { ...stored.metadata.labels, ...labels } }),
      ...(isFields(at(binding, 'metadata', 'annotations'))
        ? {
            annotations: {
              ...stored.metadata.annotations,
              ...(at(binding, 'metadata', 'annotations') as Record<string, string>),
            },
          }
        : {}),
    },
    spec: { ...fieldsAt(stored, 'spec'), nodeName: node },
    status: {
      ...status,
      conditions: [
        ...conditions,
        { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: objects.now() },
      ],
    },
  });
}
