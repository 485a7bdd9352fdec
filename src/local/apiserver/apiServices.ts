/**
 * The record of what is served: one APIService per group version, kept in step with the definitions. All are local but
 * those of groups that another server brings.
 */
import { afterChanges } from './followUp.ts';
import type { Objects } from './objects.ts';
import type { AggregatedResource } from './http/aggregatedApi.ts';
import { REVIEWS } from './http/discovery.ts';
import type { Resource } from './resource.ts';
import type { Table } from './store.ts';
import { serverWrite } from './writeRequest.ts';

const GROUP = 'apiregistration.k8s.io';
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged';
const WRITER = 'kube-apiserver';

/** The priority of each group, as upstream set it. */
const PRIORITIES = new Map(
  Object.entries({
    '': 18_000,
    apps: 17_800,
    'events.k8s.io': 17_750,
    'authentication.k8s.io': 17_700,
    'authorization.k8s.io': 17_600,
    autoscaling: 17_500,
    batch: 17_400,
    'certificates.k8s.io': 17_300,
    'networking.k8s.io': 17_200,
    policy: 17_100,
    'rbac.authorization.k8s.io': 17_000,
    'storage.k8s.io': 16_800,
    'admissionregistration.k8s.io': 16_700,
    'apiextensions.k8s.io': 16_700,
    'scheduling.k8s.io': 16_600,
    'coordination.k8s.io': 16_500,
    'node.k8s.io': 16_300,
    'discovery.k8s.io': 16_200,
    'resource.k8s.io': 16_200,
    'flowcontrol.apiserver.k8s.io': 16_100,
  }),
);
const CUSTOM_PRIORITY = { groupPriorityMinimum: 1000, versionPriority: 100 };
/** As metrics-server asks for. */
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

export class ApiServices {
  /** Ends it. */
  readonly stop: () => void;
  private readonly objects: Objects;
  private readonly resource: Resource;
  private readonly table: Table;

  constructor(objects: Objects, aggregated: readonly AggregatedResource[]) {
    this.objects = objects;
    this.resource = objects.builtin(GROUP, 'apiservices');
    this.table = objects.tableOf(this.resource);
    for (const { group, version, service } of aggregated) {
      const spec = { group, version, ...AGGREGATED_PRIORITY, insecureSkipTLSVerify: true, service };
      this.record(group, version, { 'k8s-app': service.name }, spec, 'Passed', 'all checks passed');
    }
    this.stop = afterChanges(objects.store, DEFINITIONS, () => this.update());
  }

  private update(): void {
    const wanted = new Set<string>();
    for (const { group, version } of [...this.objects.catalog.all(), ...REVIEWS]) {
      if (group === GROUP) continue;
      wanted.add(`${version}.${group}`);
      this.recordLocal(group, version);
    }
    // A copy: the table changes under way.
    for (const { metadata } of Array.from(this.table.values())) {
      const last = this.table.get(metadata.name);
      if (last === undefined || metadata.labels?.[AUTOMANAGED] === undefined || wanted.has(metadata.name)) continue;
      this.table.remove(metadata.name, last);
    }
  }

  private recordLocal(group: string, version: string): void {
    const builtin = PRIORITIES.get(group);
    const versionPriority = VERSION_PRIORITIES.get(`${group}/${version}`) ?? VERSION_PRIORITY;
    const priority = builtin === undefined ? CUSTOM_PRIORITY : { groupPriorityMinimum: builtin, versionPriority };
    const spec = { ...(group === '' ? {} : { group }), version, ...priority };
    const labels = { [AUTOMANAGED]: builtin === undefined ? 'true' : 'onstart' };
    this.record(group, version, labels, spec, 'Local', 'Local APIServices are always available');
  }

  private record(
    group: string,
    version: string,
    labels: Readonly<Record<string, string>>,
    spec: object,
    reason: string,
    message: string,
  ): void {
    const { objects, resource } = this;
    const name = `${version}.${group}`;
    if (this.table.get(name) !== undefined) return;
    objects.create(resource, undefined, { metadata: { name, labels }, spec }, serverWrite(WRITER));
    const condition = { type: 'Available', status: 'True', lastTransitionTime: objects.now(), reason, message };
    const target = { resource, namespace: undefined, name };
    const status = { conditions: [condition] };
    objects.update(target, serverWrite(WRITER, 'status'), (live) => ({ ...live, status }));
  }
}
