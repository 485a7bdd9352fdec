/**
 * Replaces names in a cluster by hashes: each name gets the same hash wherever it is a whole value, so that references
 * stay valid.
 */
import { createHash } from 'node:crypto';
import { Kinds, type Pod } from '../api/kinds.ts';
import type { KubeObject } from '../api/object.ts';
import { kindKey, WORKLOADS } from './clusterObjects.ts';

/** Kinds whose names are hashed. */
const PRIVATE: ReadonlySet<string> = new Set(
  [
    Kinds.Node,
    Kinds.NodeClaim,
    Kinds.CSINode,
    Kinds.VolumeAttachment,
    Kinds.Pod,
    Kinds.Namespace,
    Kinds.PodDisruptionBudget,
    Kinds.DaemonSet,
    Kinds.PersistentVolume,
    Kinds.PersistentVolumeClaim,
    ...WORKLOADS,
  ].map(kindKey),
);

const POD = kindKey(Kinds.Pod);

export class HashedNames {
  private readonly hashes = new Map<string, string>();
  private readonly claims = new Map<string, string>();
  /** A namespace may have the same name as a pool, and the pool keeps its name. */
  private readonly open = new Set<string>();

  /** All objects must be registered before the first one is renamed. */
  learn(key: string, objects: readonly KubeObject[]): void {
    for (const { metadata } of objects) {
      if (!PRIVATE.has(key)) this.open.add(metadata.name);
      // Of some owners, such as Jobs, only the name is known.
      const owners = (metadata.ownerReferences ?? []).map(({ name }) => name);
      const own = PRIVATE.has(key) ? [metadata.name, metadata.namespace ?? '', ...owners] : [];
      for (const name of own) this.hashes.set(name, hashOf(name));
    }
    if (key === POD) this.learnClaims(objects);
  }

  /** The claim of an ephemeral volume is found by the names of its pod and of the volume. */
  private learnClaims(pods: readonly (KubeObject & Pick<Pod, 'spec'>)[]): void {
    for (const { metadata, spec } of pods) {
      for (const { name, ephemeral } of spec?.volumes ?? []) {
        if (ephemeral) this.claims.set(`${metadata.name}-${name}`, `${hashOf(metadata.name)}-${hashOf(name)}`);
      }
    }
  }

  renamed<T extends KubeObject>(key: string, objects: readonly T[]): readonly T[] {
    return PRIVATE.has(key) ? (this.rename(objects, '') as readonly T[]) : objects;
  }

  /** The new name of an object of the kind, or of its namespace. */
  nameOf(key: string, name: string): string {
    return PRIVATE.has(key) ? this.hashOf(name) : name;
  }

  private rename(value: unknown, field: string): unknown {
    if (typeof value === 'string') {
      return SENTENCES.has(field) ? value.replace(WORD, (word) => this.hashOf(word)) : this.hashOf(value);
    }
    if (Array.isArray(value)) {
      return value.map((each) =>
        PARTS.has(field) ? withHashedName(this.rename(each, field)) : this.rename(each, field),
      );
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.rename(each, key)]));
  }

  private hashOf(name: string): string {
    return name === '' || this.open.has(name) ? name : (this.claims.get(name) ?? this.hashes.get(name) ?? name);
  }
}

/** Lists of parts of a pod, whose names nothing outside of it refers to. */
const PARTS: ReadonlySet<string> = new Set([
  'containers',
  'initContainers',
  'volumes',
  'containerStatuses',
  'initContainerStatuses',
]);

function withHashedName(part: unknown): unknown {
  const { name } = part as { readonly name?: unknown };
  return typeof name === 'string' ? { ...(part as object), name: hashOf(name) } : part;
}

/** Fields that contain names inside longer text. */
const SENTENCES: ReadonlySet<string> = new Set(['providerID', 'message', 'volumeHandle']);
const WORD = /[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?/g;

const hashOf = (name: string): string => `n-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
