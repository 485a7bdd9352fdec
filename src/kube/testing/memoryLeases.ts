import type { Lease } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import { KubeError } from '../errors.ts';
import type { Kube, ObjectRef } from '../kube.ts';

/** Carries one request to the server and its answer back: where tests put delays, losses and refusals. */
export type Transport = <T>(operation: () => T, signal: AbortSignal | undefined) => Promise<T>;

/**
 * Test support: Leases as an API server keeps them, with resource versions and conflicts. Out: `Kube` clients, each
 * with its own way to the server. Anything but get, create and replace is refused.
 */
export class MemoryLeases {
  private readonly leases = new Map<string, Lease>();
  private version = 0;

  client(transport: Transport = async (operation) => operation()): Kube {
    const refused = (): Promise<never> => Promise.reject(new KubeError({ code: 405, reason: 'MethodNotAllowed' }));
    return {
      get: <T extends KubeObject>(_kind: unknown, ref: ObjectRef, options?: { readonly signal?: AbortSignal }) =>
        transport(() => this.get(ref) as unknown as T, options?.signal),
      create: <T extends KubeObject>(_kind: unknown, object: unknown, options?: { readonly signal?: AbortSignal }) =>
        transport(() => this.create(object as Lease) as unknown as T, options?.signal),
      replace: <T extends KubeObject>(_kind: unknown, object: T, options?: { readonly signal?: AbortSignal }) =>
        transport(() => this.replace(object as unknown as Lease) as unknown as T, options?.signal),
      list: refused,
      watch: () => {
        throw new KubeError({ code: 405, reason: 'MethodNotAllowed' });
      },
      patch: refused,
      delete: refused,
      deleteCollection: refused,
      evict: refused,
      bind: refused,
      raw: refused,
    };
  }

  /** The lease as stored now. */
  read(namespace: string, name: string): Lease | undefined {
    return this.leases.get(`${namespace}/${name}`);
  }

  /** What an administrator may do at any time. */
  remove(namespace: string, name: string): void {
    this.leases.delete(`${namespace}/${name}`);
  }

  private get(ref: ObjectRef): Lease {
    const lease = this.leases.get(key(ref));
    if (lease === undefined) throw new KubeError({ code: 404, reason: 'NotFound', message: `${ref.name} not found` });
    return structuredClone(lease);
  }

  private create(lease: Lease): Lease {
    if (this.leases.has(key(lease.metadata))) throw new KubeError({ code: 409, reason: 'AlreadyExists' });
    return this.store(lease);
  }

  private replace(lease: Lease): Lease {
    const stored = this.get(lease.metadata);
    const { resourceVersion } = lease.metadata;
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) {
      throw new KubeError({ code: 409, reason: 'Conflict', message: `${lease.metadata.name} has been modified` });
    }
    return this.store(lease);
  }

  private store(lease: Lease): Lease {
    const stored = structuredClone(lease);
    stored.metadata.resourceVersion = String(++this.version);
    this.leases.set(key(stored.metadata), stored);
    return structuredClone(stored);
  }
}

const key = (ref: ObjectRef): string => `${ref.namespace}/${ref.name}`;
