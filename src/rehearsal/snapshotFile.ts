/** A cluster as a file: what loops read of it, without anything that might be secret. */
import { createHash } from 'node:crypto';
import { Kinds } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { trimFor } from '../kube/trim.ts';
import { kindKey, LOOP_KINDS, type ClusterObjects } from './clusterObjects.ts';

/** Rises when an older version could not read what a newer one writes. */
const VERSION = 1;
const FORMAT = 'nodewright-snapshot';

interface SnapshotFile {
  readonly format: typeof FORMAT;
  readonly version: number;
  /** RFC 3339: when the cluster was read. */
  readonly time: string;
  /** Objects by `plural.group`. */
  readonly kinds: Readonly<Record<string, readonly KubeObject[]>>;
}

const WORKLOADS: readonly ResourceKind<KubeObject>[] = [
  Kinds.Deployment,
  Kinds.ReplicaSet,
  Kinds.StatefulSet,
  Kinds.ReplicationController,
];

/** What is read for a snapshot, beside the node classes: what loops read, and the owners that fixes patch. */
export const SNAPSHOT_KINDS: readonly ResourceKind<KubeObject>[] = [...LOOP_KINDS, ...WORKLOADS];

/** Annotations that decisions depend on. Others may hold anything. */
const KEPT_ANNOTATIONS = /^([\w-]+\.)*(karpenter\.sh|karpenter\.azure\.com|nodewright\.dev|kubernetes\.io|k8s\.io)\//;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Fields of containers that decisions depend on. */
const KEPT_OF_CONTAINER: readonly string[] = ['name', 'resources', 'ports', 'restartPolicy'];
/** Fields of objects and pod specs that may hold secrets and that no decision depends on. */
const DROPPED: ReadonlySet<string> = new Set([
  'managedFields',
  'data',
  'stringData',
  'env',
  'envFrom',
  'command',
  'args',
  'imagePullSecrets',
]);

/** What a snapshot keeps of an object. */
export function withoutSecretFields(object: KubeObject, kind: ResourceKind<KubeObject>): KubeObject {
  const trimmed = trimFor(kind)(object, undefined);
  return stripped(trimmed) as KubeObject;
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, field]): [string, unknown][] => {
    if (DROPPED.has(key)) return [];
    if (key === 'annotations') return [[key, keptAnnotations(field)]];
    if (/^(containers|initContainers)$/.test(key) && Array.isArray(field)) return [[key, field.map(keptOfContainer)]];
    return [[key, stripped(field)]];
  });
  return Object.fromEntries(entries);
}

function keptAnnotations(annotations: unknown): unknown {
  const entries = Object.entries(annotations as Record<string, string>);
  return Object.fromEntries(entries.filter(([key]) => KEPT_ANNOTATIONS.test(key) && key !== LAST_APPLIED));
}

function keptOfContainer(container: unknown): unknown {
  return Object.fromEntries(Object.entries(container as object).filter(([key]) => KEPT_OF_CONTAINER.includes(key)));
}

export interface SnapshotOptions {
  /** Names of nodes, pods, namespaces, workloads and budgets become hashes. */
  readonly hashNames: boolean;
}

export function formatSnapshot({ time, kinds }: ClusterObjects, { hashNames }: SnapshotOptions): string {
  const sorted = [...kinds]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, objects]): [string, readonly KubeObject[]] => [key, [...objects].sort(byName)]);
  const named = hashNames ? hashed(sorted) : sorted;
  const file: SnapshotFile = {
    format: FORMAT,
    version: VERSION,
    time: new Date(time).toISOString(),
    kinds: Object.fromEntries(named),
  };
  return `${JSON.stringify(file)}\n`;
}

/** Undefined for a text that is no snapshot of a version that can be read. */
export function parseSnapshot(text: string): ClusterObjects | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { format, version, time, kinds } = (read ?? {}) as Partial<SnapshotFile>;
  if (format !== FORMAT || version !== VERSION || time === undefined || kinds === undefined) return undefined;
  return { time: Date.parse(time), kinds: new Map(Object.entries(kinds)) };
}

const byName = (left: KubeObject, right: KubeObject): number => {
  const key = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
  return key(left) < key(right) ? -1 : 1;
};

/** Kinds whose names are hashed when asked. */
const PRIVATE: ReadonlySet<string> = new Set(
  [
    Kinds.Node,
    Kinds.NodeClaim,
    Kinds.Pod,
    Kinds.Namespace,
    Kinds.PodDisruptionBudget,
    Kinds.DaemonSet,
    Kinds.PersistentVolume,
    Kinds.PersistentVolumeClaim,
    ...WORKLOADS,
  ].map(kindKey),
);

/** The same name becomes the same hash wherever it stands alone, so that references and selectors still hold. */
function hashed(kinds: readonly [string, readonly KubeObject[]][]): readonly [string, readonly KubeObject[]][] {
  const names = new Map<string, string>();
  // A namespace may be called as a pool is, and the pool keeps its name.
  const open = new Set(
    kinds.flatMap(([key, objects]) => (PRIVATE.has(key) ? [] : objects.map(({ metadata }) => metadata.name))),
  );
  for (const [key, objects] of kinds) {
    if (!PRIVATE.has(key)) continue;
    for (const { metadata } of objects) {
      for (const name of [metadata.name, metadata.namespace ?? '']) {
        if (name !== '' && !open.has(name)) names.set(name, hashOf(name));
      }
    }
  }
  const rename = (value: unknown): unknown => {
    if (typeof value === 'string') return names.get(value) ?? value;
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, rename(field)]));
  };
  return kinds.map(([key, objects]) => [key, PRIVATE.has(key) ? (rename(objects) as readonly KubeObject[]) : objects]);
}

const hashOf = (name: string): string => `n-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
