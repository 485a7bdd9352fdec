/**
 * Replaces names in a cluster by hashes: each name gets the same hash wherever it is a whole value, so that references
 * stay valid.
 */
import { createHash } from 'node:crypto';
import { Kinds } from '../api/kinds.ts';
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

export class HashedNames {
  private readonly hashes = new Map<string, string>();
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
    if (Array.isArray(value)) return value.map((each) => this.rename(each, field));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.rename(each, key)]));
  }

  private hashOf(name: string): string {
    return name === '' || this.open.has(name) ? name : (this.hashes.get(name) ?? name);
  }
}

/** Fields that contain names inside longer text. */
const SENTENCES: ReadonlySet<string> = new Set(['providerID', 'message', 'volumeHandle']);
const WORD = /[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?/g;

const hashOf = (name: string): string => `n-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
