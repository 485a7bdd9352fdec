/**
 * What a pod asks for, as two cheap text keys: its load (what it takes of a node) and its rules (which nodes may run
 * it). Each is parsed once per distinct key: there are far fewer loads and rules than combinations of them.
 */
import { podKey } from '../../pods/podKey.ts';
import type { Container } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../../api/kinds.ts';
import { hostPortsOf, type HostPort } from '../../pods/hostPorts.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { requirementsOfTerm, requirementTerms } from '../../constraints/podRequirements.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import { topologyTerms, type TopologyTerms } from '../../constraints/topology.ts';
import type { PodVolumes } from '../../constraints/volumes.ts';
import type { Resources } from '../../units/resources.ts';
import type { Snapshot } from '../problem.ts';
import { itemAt } from '../rows.ts';

export type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

/** Pods of a group are placed all together or not at all. */
const GROUP_ANNOTATION = 'nodewright.dev/pod-group';
export const GROUP_MIN_ANNOTATION = 'nodewright.dev/pod-group-min';

/** Resources, ports and volumes that the pod takes of a node. */
export interface PodLoad {
  readonly requests: Resources;
  readonly hostPorts: readonly HostPort[];
  /** A feature the solver does not support; such a pod is not placed. */
  readonly unsupported: 'dynamic-resource-claims' | undefined;
}

/** Rules for the nodes that may run the pod. */
export interface PodRules {
  /** Alternatives: each is the node selector plus one required node-affinity term. */
  readonly terms: readonly Requirements[];
  /** Heaviest first. */
  readonly preferredTerms: readonly Requirements[];
  readonly tolerations: readonly Toleration[];
  readonly volumes: PodVolumes | undefined;
  readonly topology: TopologyTerms;
  readonly priority: number;
  readonly group: string | undefined;
}

export interface PodShape extends PodLoad, PodRules {}

export function podGroup({ metadata }: Pod): string | undefined {
  const name = metadata.annotations?.[GROUP_ANNOTATION];
  return name === undefined || name === '' ? undefined : `${metadata.namespace ?? 'default'}/${name}`;
}

/** The same pod without its group. */
export function withoutGroup(pod: Pod): Pod {
  const { [GROUP_ANNOTATION]: _, ...annotations } = pod.metadata.annotations ?? {};
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/**
 * Equal texts mean equal loads; the reverse need not hold ("1" and "1000m" differ here and become equal as numbers).
 * Called for many pods per question, so it only concatenates strings.
 */
export function loadKey({ spec, status }: Pod): string {
  if (spec === undefined) return '';
  let key = '';
  const { containers, initContainers, overhead, resourceClaims } = spec;
  for (const container of containers) key += containerKey(container);
  if (initContainers !== undefined) {
    for (const container of initContainers) key += `i${container.restartPolicy ?? ''}${containerKey(container)}`;
  }
  if (overhead) key += `o${recordKey(overhead)}`;
  const { resources } = spec as { resources?: unknown };
  if (resources !== undefined) key += `r${JSON.stringify(resources)}`;
  if (resourceClaims && resourceClaims.length > 0) key += 'd';
  if (
    status?.containerStatuses?.some((each) => each.resources) ||
    status?.initContainerStatuses?.some((each) => each.resources)
  ) {
    key += `s${JSON.stringify([status.containerStatuses, status.initContainerStatuses, status.conditions])}`;
  }
  return key;
}

/**
 * Requests of a pod with one container that asks only for cpu and memory. Almost every pod is like that, and its kind
 * is found without building the text.
 */
function plainRequests({ spec, status }: Pod): { readonly cpu: string; readonly memory: string } | undefined {
  if (spec === undefined || spec.containers.length !== 1 || status?.containerStatuses !== undefined) return undefined;
  if (spec.initContainers !== undefined || spec.overhead !== undefined || spec.resourceClaims !== undefined) {
    return undefined;
  }
  const { resources, ports } = itemAt(spec.containers, 0);
  if ((spec as { resources?: unknown }).resources !== undefined || ports !== undefined) return undefined;
  const requests = resources?.requests;
  if (requests === undefined || resources?.claims !== undefined || status?.initContainerStatuses !== undefined) {
    return undefined;
  }
  let names = 0;
  for (const _ in requests) names += 1;
  const { cpu, memory } = requests;
  return names === 2 && typeof cpu === 'string' && typeof memory === 'string'
    ? (requests as { cpu: string; memory: string })
    : undefined;
}

/** Cache of load texts by cpu and memory, for pods that take nothing else. */
export class LoadTexts {
  private readonly plain = new Map<string, Map<string, string>>();

  of(pod: Pod): string {
    const requests = plainRequests(pod);
    if (requests === undefined) return loadKey(pod);
    const { cpu, memory } = requests;
    let byMemory = this.plain.get(cpu);
    if (byMemory === undefined) {
      byMemory = new Map();
      this.plain.set(cpu, byMemory);
    }
    let text = byMemory.get(memory);
    if (text === undefined) {
      // In a fixed order, whichever comes first in the pod.
      text = `c{cpu=${cpu};memory=${memory};}`;
      byMemory.set(memory, text);
    }
    return text;
  }
}

/** Equal texts mean equal rules, except for the priority. */
export function rulesKey(pod: Pod, snapshot: Snapshot): string {
  const { spec, metadata } = pod;
  let key = '';
  if (spec === undefined) return key;
  const { nodeSelector, tolerations, affinity, topologySpreadConstraints: own } = spec;
  if (nodeSelector) key += `n${recordKey(nodeSelector)}`;
  if (tolerations && tolerations.length > 0) key += `t${JSON.stringify(tolerations)}`;
  const group = podGroup(pod);
  if (group !== undefined) key += `g${group}`;
  const volumes = snapshot.volumes?.get(podKey(pod));
  if (volumes !== undefined) key += `v${volumesKey(volumes)}`;
  const spread = own === undefined || own.length === 0 ? defaultConstraints(pod, snapshot) : own;
  if (affinity === undefined && spread.length === 0) return key;
  let relations = '';
  if (affinity) relations += `a${JSON.stringify(affinity)}`;
  if (spread.length > 0) relations += `p${JSON.stringify(spread)}`;
  if (spread.length > 0 || affinity?.podAffinity || affinity?.podAntiAffinity) {
    key += `@${metadata.namespace ?? 'default'}`;
    // matchLabelKeys take values from the pod's own labels.
    if (relations.includes('atchLabelKeys')) key += `l${JSON.stringify(metadata.labels)}`;
  }
  return key + relations;
}

export function readLoad(pod: Pod): PodLoad {
  return {
    requests: podRequests(pod),
    hostPorts: hostPortsOf(pod),
    unsupported: usesDynamicResources(pod) ? 'dynamic-resource-claims' : undefined,
  };
}

export function readRules(pod: Pod, snapshot: Snapshot): PodRules {
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return {
    terms: requirementTerms(pod),
    preferredTerms: [...preferred]
      .sort((left, right) => right.weight - left.weight)
      .map(({ preference }) => requirementsOfTerm(preference)),
    tolerations: pod.spec?.tolerations ?? [],
    volumes: snapshot.volumes?.get(podKey(pod)),
    topology: topologyTerms(pod, snapshot.namespaces ?? new Map(), defaultConstraints(pod, snapshot)),
    priority: pod.spec?.priority ?? 0,
    group: podGroup(pod),
  };
}

type SpreadConstraints = NonNullable<NonNullable<Pod['spec']>['topologySpreadConstraints']>;

const NO_CONSTRAINTS: SpreadConstraints = [];

export function defaultConstraints(pod: Pod, { defaultSpread }: Snapshot): SpreadConstraints {
  if (defaultSpread === undefined || defaultSpread.constraints.length === 0) return NO_CONSTRAINTS;
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

export function recordKey(record: Readonly<Record<string, string>>): string {
  let key = '{';
  for (const name in record) key += `${name}=${record[name]};`;
  return key;
}

export function volumesKey({ alternatives, attachments }: PodVolumes): string {
  return JSON.stringify([alternatives.map((each) => each.toItems()), attachments]);
}
