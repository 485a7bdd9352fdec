/** Discovery documents of the served resources, aggregated and legacy. */
import { createHash } from 'node:crypto';
import { apiVersionOf } from '../../../api/object.ts';
import { byPreference } from '../apiVersion.ts';
import priorities from '../builtin/groupPriorities.json' with { type: 'json' };
import { PLAIN, type Action, type ListedResource } from '../resource.ts';

interface GroupVersions {
  readonly group: string;
  readonly versions: readonly string[];
}

/** Kinds that can only be posted. */
export const REVIEWS: readonly ListedResource[] = [
  review('authorization', 'SelfSubjectAccessReview'),
  review('authorization', 'SelfSubjectRulesReview'),
  review('authorization', 'SubjectAccessReview'),
  { ...review('authorization', 'LocalSubjectAccessReview'), namespaced: true },
  review('authentication', 'SelfSubjectReview'),
  review('authentication', 'TokenReview'),
];

function review(inPackage: string, kind: string): ListedResource {
  const singular = kind.toLowerCase();
  const names = { kind, singular, plural: `${singular}s`, listKind: '' };
  return { ...PLAIN, ...names, group: `${inPackage}.k8s.io`, version: 'v1', namespaced: false, verbs: ['create'] };
}

/** Returns the resources of one API version, including reviews. */
function servedIn(resources: readonly ListedResource[], group: string, version: string): readonly ListedResource[] {
  return [...resources, ...REVIEWS].filter((one) => one.group === group && one.version === version);
}

/** Returns short names and categories, without empty lists. */
const otherNames = ({ shortNames, categories }: ListedResource): object => ({
  ...(shortNames.length > 0 && { shortNames }),
  ...(categories.length > 0 && { categories }),
});

/** The priorities of upstream's groups, which come first; groups of CRDs follow by name. */
export const GROUP_PRIORITIES: ReadonlyMap<string, number> = new Map(Object.entries(priorities));

const rankOf = (group: string): number => -(GROUP_PRIORITIES.get(group) ?? 0);

/** Returns a hash of the stored form of a kind, by which clients detect its changes. */
function storageVersionHash(resource: ListedResource): string {
  const stored = resource.storageKind ?? `${resource.group}/${resource.version}/${resource.kind}`;
  return createHash('sha256').update(stored).digest().subarray(0, 8).toString('base64');
}

function groupsOf(resources: readonly ListedResource[]): GroupVersions[] {
  const versions = new Map<string, Set<string>>();
  for (const { group, version } of [...resources, ...REVIEWS]) {
    versions.set(group, (versions.get(group) ?? new Set()).add(version));
  }
  return [...versions]
    .filter(([group]) => group !== '')
    .sort(([left], [right]) => rankOf(left) - rankOf(right) || (left < right ? -1 : 1))
    .map(([group, set]) => ({ group, versions: [...set].sort(byPreference) }));
}

function groupDocument({ group, versions }: GroupVersions): object {
  const listed = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: listed, preferredVersion: listed[0] };
}

export function legacyGroupList(resources: readonly ListedResource[]): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(resources).map(groupDocument) };
}

export function legacyGroup(resources: readonly ListedResource[], group: string): object | undefined {
  const found = groupsOf(resources).find((entry) => entry.group === group);
  return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(found) };
}

/** `address`: the host of the request. */
export function legacyVersions(address: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  };
}

const STATUS_VERBS = ['get', 'patch', 'update'];

interface Entry {
  readonly name: string;
}

export function legacyResourceList(
  resources: readonly ListedResource[],
  group: string,
  version: string,
): object | undefined {
  const entries: Entry[] = [];
  for (const resource of servedIn(resources, group, version)) {
    const { plural, singular: singularName, namespaced, kind, verbs } = resource;
    const hash = verbs.includes('watch') && { storageVersionHash: storageVersionHash(resource) };
    entries.push({ name: plural, singularName, namespaced, kind, verbs, ...otherNames(resource), ...hash } as Entry);
    for (const sub of subresources(resource)) {
      entries.push({
        name: `${plural}/${sub.name}`,
        singularName: '',
        namespaced,
        ...(sub.group === group && sub.version === version ? {} : { group: sub.group, version: sub.version }),
        kind: sub.kind,
        verbs: sub.verbs,
      } as Entry);
    }
  }
  if (entries.length === 0) return undefined;
  const isCustom = resources.some((one) => one.group === group && one.custom);
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources: isCustom ? entries : entries.sort(byName),
  };
}

const byName = (left: Entry, right: Entry): number => (left.name < right.name ? -1 : 1);

function subresources(resource: ListedResource): (Action & { readonly verbs: readonly string[] })[] {
  const { group, version, kind } = resource;
  return [
    ...resource.actions.map((action) => ({ ...action, verbs: action.verbs ?? ['create'] })),
    ...(resource.hasStatus ? [{ name: 'status', group, version, kind, verbs: STATUS_VERBS }] : []),
    ...(resource.scale === undefined
      ? []
      : [{ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: STATUS_VERBS }]),
  ];
}

/** Returns the discovery of all resources below `/api` or `/apis` (`apidiscovery.k8s.io`). */
export function aggregatedDiscovery(resources: readonly ListedResource[], core: boolean, version: string): object {
  const groups = core ? [{ group: '', versions: ['v1'] }] : groupsOf(resources);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map((one) => ({
        version: one,
        resources: aggregatedResources(resources, group, one),
        freshness: 'Current',
      })),
    })),
  };
}

/** Returns the response kind, which for built-in kinds omits group and version if they are those of the document. */
function responseKind(resource: ListedResource, of: { group: string; version: string; kind: string }): object {
  const isOwn = !resource.custom && of.group === resource.group && of.version === resource.version;
  return isOwn ? { group: '', version: '', kind: of.kind } : { group: of.group, version: of.version, kind: of.kind };
}

function aggregatedResources(resources: readonly ListedResource[], group: string, version: string): object[] {
  return servedIn(resources, group, version)
    .map((resource) => {
      const subs = subresources(resource).map((sub) => ({
        name: sub.name,
        subresource: sub.name,
        responseKind: responseKind(resource, sub),
        verbs: sub.verbs,
      }));
      if (!resource.custom) subs.sort(byName);
      return {
        resource: resource.plural,
        responseKind: responseKind(resource, resource),
        scope: resource.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: resource.singular,
        verbs: resource.verbs,
        ...otherNames(resource),
        ...(subs.length > 0 && { subresources: subs.map(({ name: _name, ...sub }) => sub) }),
      };
    })
    .sort((left, right) => (left.resource < right.resource ? -1 : 1));
}
