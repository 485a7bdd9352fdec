/**
 * What a pod asks for, read once for all pods that ask for the same. In: pods; out: a text key that is cheap to make,
 * and behind it requests, requirement terms, tolerations, ports, volumes, topology terms and preferences.
 */
import type { Container, NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../../api/kinds.ts';
import { hostPortsOf, type HostPort } from '../../constraints/hostPorts.ts';
import { podRequests } from '../../constraints/podRequests.ts';
import { requirementsOfTerm } from '../../constraints/podRequirements.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { topologyTerms, type TopologyTerms } from '../../constraints/topology.ts';
import type { PodVolumes } from '../../constraints/volumes.ts';
import type { Resources } from '../../units/resources.ts';
import type { Snapshot } from '../problem.ts';

export type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

/** Pods of one group get places all together, or none does. */
const GROUP_ANNOTATION = 'nodewright.dev/pod-group';
export const GROUP_MIN_ANNOTATION = 'nodewright.dev/pod-group-min';

export interface PodShape {
  readonly requests: Resources;
  /** Alternatives: the node selector together with one required node-affinity term each. */
  readonly terms: readonly Requirements[];
  /** Heaviest first. */
  readonly preferredTerms: readonly Requirements[];
  readonly tolerations: readonly Toleration[];
  readonly hostPorts: readonly HostPort[];
  readonly volumes: PodVolumes | undefined;
  readonly topology: TopologyTerms;
  readonly priority: number;
  readonly group: string | undefined;
  /** What the solver cannot promise; the pod is not placed then. */
  readonly unsupported: string | undefined;
}

export const podKey = ({ metadata }: Pod): string => `${metadata.namespace ?? 'default'}/${metadata.name}`;

export function podGroup({ metadata }: Pod): string | undefined {
  const name = metadata.annotations?.[GROUP_ANNOTATION];
  return name === undefined || name === '' ? undefined : `${metadata.namespace ?? 'default'}/${name}`;
}

/** Objects as text. Pods of one workload that come one after the other often share them: the last is remembered. */
export class Texts {
  private lastValue: object | undefined;
  private lastText = '';

  of(value: object): string {
    if (value !== this.lastValue) {
      this.lastText = JSON.stringify(value);
      this.lastValue = value;
    }
    return this.lastText;
  }
}

/**
 * Equal texts mean equal shapes; the reverse need not hold ("1" and "1000m" differ here and meet again as numbers).
 * Made for every pod of every question, hence plain concatenation.
 */
export function shapeKey(pod: Pod, snapshot: Snapshot, texts: Texts): string {
  const { spec, metadata, status } = pod;
  let key = `${spec?.priority ?? 0}`;
  if (spec === undefined) return key;
  for (const container of spec.containers) key += containerKey(container);
  for (const container of spec.initContainers ?? [])
    key += `i${container.restartPolicy ?? ''}${containerKey(container)}`;
  if (spec.overhead) key += `o${recordKey(spec.overhead)}`;
  const { resources } = spec as { resources?: unknown };
  if (resources !== undefined) key += `r${JSON.stringify(resources)}`;
  if (spec.nodeSelector) key += `n${recordKey(spec.nodeSelector)}`;
  if (spec.tolerations && spec.tolerations.length > 0) key += `t${texts.of(spec.tolerations)}`;
  if (spec.resourceClaims && spec.resourceClaims.length > 0) key += 'd';
  if (
    status?.containerStatuses?.some((each) => each.resources) ||
    status?.initContainerStatuses?.some((each) => each.resources)
  ) {
    key += `s${JSON.stringify([status.containerStatuses, status.initContainerStatuses, status.conditions])}`;
  }
  const group = podGroup(pod);
  if (group !== undefined) key += `g${group}`;
  const volumes = snapshot.volumes?.get(podKey(pod));
  if (volumes !== undefined) {
    key += `v${JSON.stringify([volumes.alternatives.map((each) => each.toItems()), volumes.attachments])}`;
  }
  const { affinity } = spec;
  if (affinity) key += `a${texts.of(affinity)}`;
  const spread = spec.topologySpreadConstraints ?? [];
  const defaults = spread.length === 0 ? defaultConstraints(pod, snapshot) : spread;
  if (defaults.length > 0) key += `p${texts.of(defaults)}`;
  if (defaults.length > 0 || affinity?.podAffinity || affinity?.podAntiAffinity) {
    key += `@${metadata.namespace ?? 'default'}`;
    // A selector may take values from the pod's own labels.
    if (key.includes('atchLabelKeys')) key += `l${JSON.stringify(metadata.labels)}`;
  }
  return key;
}

export function readShape(pod: Pod, snapshot: Snapshot): PodShape {
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return {
    requests: podRequests(pod),
    terms: requirementTerms(pod),
    preferredTerms: [...preferred]
      .sort((left, right) => right.weight - left.weight)
      .map(({ preference }) => requirementsOfTerm(preference)),
    tolerations: pod.spec?.tolerations ?? [],
    hostPorts: hostPortsOf(pod),
    volumes: snapshot.volumes?.get(podKey(pod)),
    topology: topologyTerms(pod, snapshot.namespaces ?? new Map(), defaultConstraints(pod, snapshot)),
    priority: pod.spec?.priority ?? 0,
    group: podGroup(pod),
    unsupported: usesDynamicResources(pod) ? 'dynamic resource claims' : undefined,
  };
}

/** Each required node-affinity term with the node selector; the selector alone when there is none. */
export function requirementTerms(pod: Pod): Requirements[] {
  const selector = Requirements.fromLabels(pod.spec?.nodeSelector);
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms: readonly NodeSelectorTerm[] | undefined = required?.nodeSelectorTerms;
  if (terms === undefined) return [selector];
  if (terms.length === 0) return [requirementsOfTerm({})];
  return terms.map((term) => selector.merge(requirementsOfTerm(term)));
}

function defaultConstraints(
  pod: Pod,
  { defaultSpread }: Snapshot,
): NonNullable<NonNullable<Pod['spec']>['topologySpreadConstraints']> {
  if (defaultSpread === undefined || defaultSpread.constraints.length === 0) return [];
  const labelSelector = defaultSpread.selectorOf(pod);
  return labelSelector === undefined ? [] : defaultSpread.constraints.map((each) => ({ ...each, labelSelector }));
}

function usesDynamicResources({ spec }: Pod): boolean {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return (
    (spec?.resourceClaims ?? []).length > 0 || containers.some(({ resources }) => (resources?.claims ?? []).length > 0)
  );
}

function containerKey({ resources, ports, name }: Container): string {
  let key = 'c';
  if (resources?.requests) key += recordKey(resources.requests);
  if (resources?.claims && resources.claims.length > 0) key += `d${name}`;
  if (ports) {
    for (const { hostPort, hostIP, protocol } of ports)
      if (hostPort) key += `h${hostPort}/${hostIP ?? ''}/${protocol ?? ''}`;
  }
  return key;
}

function recordKey(record: Readonly<Record<string, string>>): string {
  let key = '{';
  for (const name in record) key += `${name}=${record[name]};`;
  return key;
}
