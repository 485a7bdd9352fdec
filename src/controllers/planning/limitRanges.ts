/**
 * Default container requests of a namespace's LimitRanges. Used for pods that do not exist yet, to which admission has
 * therefore not added the defaults.
 */
import { Kinds, type LimitRange, type Pod } from '../../api/kinds.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];
/** By namespace. */
export type DefaultRequests = ReadonlyMap<string, Readonly<Record<string, string>>>;

export class LimitRanges {
  private readonly kube: Kube;
  private readonly log: Log;
  private refused = false;

  constructor({ kube, log }: { readonly kube: Kube; readonly log: Log }) {
    this.kube = kube;
    this.log = log;
  }

  async defaultRequests(namespaces: ReadonlySet<string>, signal: AbortSignal): Promise<DefaultRequests> {
    const found = await Promise.all(
      [...namespaces].map(async (namespace) => [namespace, requestsOf(await this.list(namespace, signal))] as const),
    );
    return new Map(found);
  }

  /** They only refine an estimate, so a failure to read them must not stop the pass. */
  private async list(namespace: string, signal: AbortSignal): Promise<readonly LimitRange[]> {
    if (this.refused) return [];
    try {
      return (await this.kube.list(Kinds.LimitRange, { namespace, signal })).items;
    } catch (error) {
      signal.throwIfAborted();
      if (isNotFound(error)) return [];
      // A role without this right will not gain it while we run.
      this.refused ||= isForbidden(error);
      const message = 'cannot read the limitranges of a namespace; its new daemons are counted without their defaults';
      this.log.error(message, { namespace, error });
      return [];
    }
  }
}

/** The first that names a resource counts, as in admission; the API server has filled in what follows from limits. */
function requestsOf(ranges: readonly LimitRange[]): Record<string, string> {
  const items = ranges.flatMap(({ spec }) => spec?.limits ?? []).filter(({ type }) => type === 'Container');
  return Object.assign({}, ...items.map(({ defaultRequest = {} }) => defaultRequest).toReversed()) as Record<
    string,
    string
  >;
}

/** Limits stand in for requests that are not given; what neither names, the namespace may. */
export function withRequests(container: Container, defaults: Readonly<Record<string, string>> = {}): Container {
  const { resources } = container;
  return {
    ...container,
    resources: { ...resources, requests: { ...defaults, ...resources?.limits, ...resources?.requests } },
  };
}
