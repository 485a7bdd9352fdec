/**
 * Maintains one APIService for each served group version, following changes of CRDs. All are local except those of
 * aggregated groups.
 */
import { afterChanges } from './followUp.ts';
import type { Objects } from './objects.ts';
import type { AggregatedResource } from './http/aggregatedApi.ts';
import { GROUP_PRIORITIES, REVIEWS } from './http/discovery.ts';
import { serverWrite } from './writeRequest.ts';

const GROUP = 'apiregistration.k8s.io';
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged';
const WRITER = 'kube-apiserver';

const CUSTOM_PRIORITY = { groupPriorityMinimum: 1000, versionPriority: 100 };
/** The priorities in metrics-server's APIService. */
const AGGREGATED_PRIORITY = { groupPriorityMinimum: 100, versionPriority: 100 };
const VERSION_PRIORITIES = new Map(
  Object.entries({
    '/v1': 1,
    'autoscaling/v2': 30,
    'flowcontrol.apiserver.k8s.io/v1': 21,
    'resource.k8s.io/v1': 21,
  }),
);
const VERSION_PRIORITY = 15;

/** Returns a function that stops the maintenance. */
export function recordApiServices(objects: Objects, aggregated: readonly AggregatedResource[]): () => void {
  const resource = objects.builtin(GROUP, 'apiservices');
  const table = objects.tableOf(resource);

  function record(name: string, labels: object, spec: object, reason: string, message: string): void {
    if (table.get(name) !== undefined) return;
    objects.create(resource, undefined, { metadata: { name, labels }, spec }, serverWrite(WRITER));
    const condition = { type: 'Available', status: 'True', lastTransitionTime: objects.now(), reason, message };
    objects.setStatus({ resource, namespace: undefined, name }, WRITER, { conditions: [condition] });
  }

  function update(): void {
    const wanted = new Set<string>();
    for (const { group, version } of [...objects.catalog.all(), ...REVIEWS]) {
      if (group === GROUP) continue;
      const name = `${version}.${group}`;
      wanted.add(name);
      const builtin = GROUP_PRIORITIES.get(group);
      const versionPriority = VERSION_PRIORITIES.get(`${group}/${version}`) ?? VERSION_PRIORITY;
      const priority = builtin === undefined ? CUSTOM_PRIORITY : { groupPriorityMinimum: builtin, versionPriority };
      const spec = { ...(group === '' ? {} : { group }), version, ...priority };
      const labels = { [AUTOMANAGED]: builtin === undefined ? 'true' : 'onstart' };
      record(name, labels, spec, 'Local', 'Local APIServices are always available');
    }
    for (const service of table.page().items) {
      const { name, labels } = service.metadata;
      if (labels?.[AUTOMANAGED] !== undefined && !wanted.has(name)) table.remove(name, service);
    }
  }

  for (const { group, version, service } of aggregated) {
    const spec = { group, version, ...AGGREGATED_PRIORITY, insecureSkipTLSVerify: true, service };
    record(`${version}.${group}`, { 'k8s-app': service.name }, spec, 'Passed', 'all checks passed');
  }
  return afterChanges(objects.store, DEFINITIONS, update);
}
