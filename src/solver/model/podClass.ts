/** Pods that schedule alike, and the rules that bind them, as the searches read them. */
import type { Pod } from '../../api/kinds.ts';
import type { Rung } from './ladder.ts';
import type { PodShape } from './podShape.ts';

/** No more than `max` pods that the counter counts may be on the node. */
export interface HostLimit {
  readonly counter: number;
  readonly max: number;
  /** How many there may be once such a pod is there. A wish of one pod does not limit others. */
  readonly othersMax: number;
  /** Spread: with fewer nodes than this the least that any node has counts as none. */
  readonly minDomains: number;
}

export interface DomainConstraint {
  readonly kind: 'spread' | 'affinity' | 'anti-affinity';
  readonly counter: number;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** The pod counts itself. */
  readonly self: boolean;
  /** Affinity: the counters of all its terms. Only while none of them counts any pod may the pod be the first. */
  readonly together: readonly number[];
}

export interface HostAffinity {
  readonly counter: number;
  readonly self: boolean;
  readonly together: readonly number[];
}

/** A class with some of its wishes dropped. */
export interface Variant {
  readonly rung: Rung;
  readonly requirementId: number;
  /** Over keys other than the hostname. */
  readonly domain: readonly DomainConstraint[];
  readonly hostLimits: readonly HostLimit[];
  readonly hostAffinity: readonly HostAffinity[];
  /** Of either kind. */
  readonly hasAffinity: boolean;
  /** Counters that every pod placed this way adds to, by domain. */
  readonly domainAdds: readonly number[];
  /** Topology keys of which a new node must have one value, so that its pods can be counted. */
  readonly pinKeys: readonly string[];
  /** Other keys that decide whether the node takes part in the spreads that count the pod. */
  readonly doubtKeys: readonly string[];
}

export interface PodClass {
  readonly id: number;
  readonly shape: PodShape;
  /** The same for classes that differ only in how much they matter. */
  readonly equivalenceKey: string;
  readonly row: Float64Array;
  readonly tolerationsKey: string;
  /** In order of name. */
  readonly pods: readonly Pod[];
  readonly variants: readonly Variant[];
  readonly hostAdds: readonly number[];
  /** Needs a resource that no node offers. */
  readonly unknownResource: string | undefined;
}
