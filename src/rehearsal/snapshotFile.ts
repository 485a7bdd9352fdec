/** A cluster as a file: the fields that loops read, without possible secrets. */
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { trimFor } from '../kube/trim.ts';
import { LOOP_KINDS, WORKLOADS, type ClusterObjects } from './clusterObjects.ts';
import type { HashedNames } from './hashedNames.ts';

/** Incremented when older versions cannot read the new format. */
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

/** Kinds in a snapshot, besides the node classes: those that loops read, and owners that fixes patch. */
export const SNAPSHOT_KINDS: readonly ResourceKind<KubeObject>[] = [...LOOP_KINDS, ...WORKLOADS];

/** Annotations that affect decisions. Others may contain anything. */
const KEPT_ANNOTATIONS = /^([\w-]+\.)*(karpenter\.sh|karpenter\.azure\.com|nodewright\.dev|kubernetes\.io|k8s\.io)\//;
/** What users and kubectl write there may be whole manifests, and command lines with what was typed in them. */
const FREE_TEXT: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'kubernetes.io/change-cause',
  'kubernetes.io/description',
]);
/** Container fields that affect decisions. */
const KEPT_OF_CONTAINER: readonly string[] = ['name', 'resources', 'ports', 'restartPolicy'];
/** Fields of objects and pod specs that may contain secrets and do not affect decisions. */
const DROPPED: ReadonlySet<string> = new Set([
  'managedFields',
  'data',
  'stringData',
  'env',
  'envFrom',
  'command',
  'args',
  'imagePullSecrets',
  'generateName',
  'ephemeralContainers',
  'serviceAccountName',
  'serviceAccount',
  'securityContext',
  'hostAliases',
  'hostname',
  'subdomain',
  'dnsConfig',
]);

/** Maps whose keys users choose: `env` is a label there, and no variables of a container. */
const OF_USERS: ReadonlySet<string> = new Set([
  'labels',
  'matchLabels',
  'selector',
  'namespaceSelector',
  'nodeSelector',
  'tags',
  'limits',
  'requests',
]);

/** Volumes whose source tells where data lies: names of Secrets, paths and servers affect no decision. */
const FILE_VOLUMES: ReadonlySet<string> = new Set([
  'secret',
  'configMap',
  'projected',
  'hostPath',
  'nfs',
  'azureFile',
  'flexVolume',
]);

/** The fields of an object kept in a snapshot. */
export function withoutSecretFields(object: KubeObject, kind: ResourceKind<KubeObject>): KubeObject {
  const trimmed = trimFor(kind)(object, undefined);
  return stripped(trimmed) as KubeObject;
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, field]): [string, unknown][] => {
    if (DROPPED.has(key)) return [];
    if (OF_USERS.has(key)) return [[key, field]];
    if (key === 'annotations') return [[key, keptAnnotations(field)]];
    if (/^(containers|initContainers)$/.test(key) && Array.isArray(field)) return [[key, field.map(keptOfContainer)]];
    if (key === 'volumes' && Array.isArray(field)) return [[key, field.map(keptOfVolume)]];
    return [[key, stripped(field)]];
  });
  return Object.fromEntries(entries);
}

function keptAnnotations(annotations: unknown): unknown {
  const entries = Object.entries(annotations as Record<string, string>);
  return Object.fromEntries(entries.filter(([key]) => KEPT_ANNOTATIONS.test(key) && !FREE_TEXT.has(key)));
}

function keptOfContainer(container: unknown): unknown {
  return Object.fromEntries(Object.entries(container as object).filter(([key]) => KEPT_OF_CONTAINER.includes(key)));
}

function keptOfVolume(volume: unknown): unknown {
  const entries = Object.entries(volume as object);
  return Object.fromEntries(entries.map(([key, source]) => [key, FILE_VOLUMES.has(key) ? {} : stripped(source)]));
}

/** One line. Names are kept unless `names` is given. */
export function formatSnapshot({ time, kinds }: ClusterObjects, names?: HashedNames): string {
  const sorted = [...kinds]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, objects]): [string, readonly KubeObject[]] => [key, [...objects].sort(byName)]);
  for (const [key, objects] of sorted) names?.learn(key, objects);
  const named = names === undefined ? sorted : sorted.map(([key, objects]) => [key, names.renamed(key, objects)]);
  const file: SnapshotFile = {
    format: FORMAT,
    version: VERSION,
    time: new Date(time).toISOString(),
    kinds: Object.fromEntries(named) as SnapshotFile['kinds'],
  };
  return `${JSON.stringify(file)}\n`;
}

/** Undefined for text that is not a snapshot of a readable version. */
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
