/** Pods that schedule alike, and their rules in the form that searches read. */
import type { Pod } from '../../api/kinds.ts';
import type { Rung } from './ladder.ts';
import type { PodShape } from './podShape.ts';

/** At most `max` pods that the counter counts may be on the node. */
export interface HostLimit {
  readonly counter: number;
  readonly max: number;
  /** Limit for other pods once such a pod is on the node. A preference does not limit others. */
  readonly othersMax: number;
  /** Spread: with fewer nodes than this, the minimum counts as 0. */
  readonly minDomains: number;
}

export interface DomainConstraint {
  readonly kind: 'spread' | 'affinity' | 'anti-affinity';
  readonly counter: number;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** The pod counts itself. */
  readonly self: boolean;
  /** Affinity: counters of all its terms. A pod may be the first of its group only while all of them are 0. */
  readonly together: readonly number[];
}

export interface HostAffinity {
  readonly counter: number;
  readonly self: boolean;
  readonly together: readonly number[];
}

/** A class with some of its preferences dropped. */
export interface Variant {
  readonly rung: Rung;
  readonly requirementId: number;
  /** Over keys other than the hostname. */
  readonly domain: readonly DomainConstraint[];
  readonly hostLimits: readonly HostLimit[];
  readonly hostAffinity: readonly HostAffinity[];
  /** Over the hostname or another key. */
  readonly hasAffinity: boolean;
  /** Counters, by domain, that each placed pod increments. */
  readonly domainAdds: readonly number[];
  /** Topology keys that must have exactly one value on a new node, so that its pods can be counted. */
  readonly pinKeys: readonly string[];
  /** Other keys that decide whether the node takes part in spreads that count the pod. */
  readonly doubtKeys: readonly string[];
}

export interface PodClass {
  readonly id: number;
  readonly shape: PodShape;
  /** Equal for classes that differ only in priority. */
  readonly equivalenceKey: string;
  readonly row: Float64Array;
  readonly tolerationsKey: string;
  /** Sorted by name. */
  readonly pods: readonly Pod[];
  readonly variants: readonly Variant[];
  readonly hostAdds: readonly number[];
  /** A requested resource that no node offers. */
  readonly unknownResource: string | undefined;
}
