/**
 * The record of what is served. In: the catalogue. Out: an APIService per group version, kept in step with the
 * definitions; all are local but those of groups that another server brings.
 */
import { afterChanges } from './afterChanges.ts';
import type { Objects, WriteRequest } from './objects.ts';
import type { AggregatedResource } from './http/aggregatedApi.ts';
import { REVIEWS } from './http/discovery.ts';
import { keyOf } from './store.ts';

const GROUP = 'apiregistration.k8s.io';
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged';
const WRITE: WriteRequest = { fieldManager: 'kube-apiserver', dryRun: false, fieldValidation: 'Ignore' };

/** Where each group stands among all, as upstream decided. */
const PRIORITIES: Readonly<Record<string, number>> = {
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
};
const CUSTOM_PRIORITY = { groupPriorityMinimum: 1000, versionPriority: 100 };
/** As metrics-server asks for. */
const AGGREGATED_PRIORITY = { groupPriorityMinimum: 100, versionPriority: 100 };
const VERSION_PRIORITIES: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'resource.k8s.io/v1': 21,
};
const VERSION_PRIORITY = 15;

export class ApiServices {
  /** Ends it. */
  readonly stop: () => void;
  private readonly objects: Objects;

  constructor(objects: Objects, aggregated: readonly AggregatedResource[]) {
    this.objects = objects;
    for (const { group, version, service } of aggregated) this.record(group, version, service);
    this.stop = afterChanges(objects.store, DEFINITIONS, () => this.update());
  }

  /** A group version of another server. */
  private record(group: string, version: string, service: AggregatedResource['service']): void {
    const name = `${version}.${group}`;
    const resource = this.objects.catalog.find(GROUP, 'v1', 'apiservices');
    if (resource === undefined || this.objects.tableOf(resource).get(keyOf(undefined, name)) !== undefined) return;
    const spec = { group, version, ...AGGREGATED_PRIORITY, insecureSkipTLSVerify: true, service };
    this.objects.create(resource, undefined, { metadata: { name, labels: { 'k8s-app': service.name } }, spec }, WRITE);
    this.mark(name, 'Passed', 'all checks passed');
  }

  private update(): void {
    const resource = this.objects.catalog.find(GROUP, 'v1', 'apiservices');
    if (resource === undefined) return;
    const table = this.objects.tableOf(resource);
    const wanted = new Set<string>();
    for (const { group, version } of [...this.objects.catalog.all(), ...REVIEWS]) {
      if (group === GROUP) continue;
      const name = `${version}.${group}`;
      wanted.add(name);
      if (table.get(keyOf(undefined, name)) === undefined) this.create(name, group, version);
    }
    // A copy: the table changes under way.
    for (const { metadata } of Array.from(table.values())) {
      if (metadata.labels?.[AUTOMANAGED] !== undefined && !wanted.has(metadata.name)) {
        const last = table.get(keyOf(undefined, metadata.name));
        if (last !== undefined) table.remove(keyOf(undefined, metadata.name), last);
      }
    }
  }

  private create(name: string, group: string, version: string): void {
    const resource = this.objects.catalog.find(GROUP, 'v1', 'apiservices');
    if (resource === undefined) return;
    const builtin = PRIORITIES[group];
    const spec = {
      ...(group === '' ? {} : { group }),
      version,
      ...(builtin === undefined
        ? CUSTOM_PRIORITY
        : {
            groupPriorityMinimum: builtin,
            versionPriority: VERSION_PRIORITIES[`${group}/${version}`] ?? VERSION_PRIORITY,
          }),
    };
    const labels = { [AUTOMANAGED]: builtin === undefined ? 'true' : 'onstart' };
    this.objects.create(resource, undefined, { metadata: { name, labels }, spec }, WRITE);
    this.mark(name, 'Local', 'Local APIServices are always available');
  }

  private mark(name: string, reason: string, message: string): void {
    const resource = this.objects.catalog.find(GROUP, 'v1', 'apiservices');
    if (resource === undefined) return;
    const condition = { type: 'Available', status: 'True', lastTransitionTime: this.objects.now(), reason, message };
    this.objects.update(resource, undefined, name, { ...WRITE, subresource: 'status' }, (live) => ({
      ...live,
      status: { conditions: [condition] },
    }));
  }
}
