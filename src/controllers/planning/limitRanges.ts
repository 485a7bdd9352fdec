/**
 * Default container requests from the LimitRanges of a namespace. Used for pods that do not exist yet, to which
 * admission has not added the defaults.
 */
import type { LimitRange, Pod } from '../../api/kinds.ts';
import type { ReadonlyStore } from '../../kube/store.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];
/** By namespace. */
export type DefaultRequests = ReadonlyMap<string, Readonly<Record<string, string>>>;

export const BY_NAMESPACE = 'limitRanges.namespace';

export function byNamespaceIndex({ metadata }: LimitRange): string[] {
  return [metadata.namespace ?? ''];
}

/** `ranges` is indexed by `byNamespaceIndex`. Empty where reading LimitRanges is forbidden. */
export function defaultRequests(
  namespaces: ReadonlySet<string>,
  ranges: Pick<ReadonlyStore<LimitRange>, 'byIndex'>,
): DefaultRequests {
  return new Map([...namespaces].map((namespace) => [namespace, requestsOf(ranges.byIndex(BY_NAMESPACE, namespace))]));
}

/**
 * The first range that names a resource is used, as in admission; the API server has already derived requests from
 * limits.
 */
function requestsOf(ranges: readonly LimitRange[]): Record<string, string> {
  const items = ranges.flatMap(({ spec }) => spec?.limits ?? []).filter(({ type }) => type === 'Container');
  return Object.assign({}, ...items.map(({ defaultRequest = {} }) => defaultRequest).toReversed()) as Record<
    string,
    string
  >;
}

/** A missing request defaults to the limit, then to the namespace's default. */
export function withRequests(container: Container, defaults: Readonly<Record<string, string>> = {}): Container {
  const { resources } = container;
  return {
    ...container,
    resources: { ...resources, requests: { ...defaults, ...resources?.limits, ...resources?.requests } },
  };
}
