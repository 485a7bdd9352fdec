/**
 * Ownership between objects of the input. A dump of a live cluster has a Deployment, its ReplicaSets and their pods:
 * only the Deployment states how many pods are wanted, so objects owned by another object of the input are not counted
 * again.
 */
import { isJsonObject, type JsonObject } from '../api/schema/json.ts';
import type { PlanNote } from '../ledger/planNote.ts';
import type { Manifest } from './manifestDocuments.ts';

/** Counted through its owner, counted itself, or one of the pods of a DaemonSet. */
export type OwnedPlace = 'owner' | 'own' | 'daemon';

export class Owners {
  private readonly given = new Set<string>();
  private readonly daemonSets = new Set<string>();
  private skipped = 0;
  private mirrors = 0;

  add(manifest: Manifest): void {
    this.given.add(keyOf(manifest.kind, manifest.namespace, manifest.name ?? ''));
  }

  placeOf(manifest: Manifest): OwnedPlace {
    const owner = controllerOf(manifest.metadata);
    if (owner === undefined) return 'own';
    const { kind, name } = owner;
    if (kind === 'Node') {
      this.mirrors += 1;
      return 'owner';
    }
    const key = keyOf(kind, manifest.namespace, name);
    if (this.given.has(key)) {
      this.skipped += 1;
      return 'owner';
    }
    if (kind !== 'DaemonSet' || manifest.kind !== 'Pod') return 'own';
    // If the DaemonSet is missing, one of its pods represents it.
    if (this.daemonSets.has(key)) return 'owner';
    this.daemonSets.add(key);
    return 'daemon';
  }

  notes(): PlanNote[] {
    return [
      ...(this.skipped > 0 ? [{ kind: 'counted-by-owner' as const, objects: this.skipped }] : []),
      ...(this.mirrors > 0 ? [{ kind: 'static-pods' as const, objects: this.mirrors }] : []),
    ];
  }
}

const keyOf = (kind: string, namespace: string | undefined, name: string): string =>
  `${kind} ${namespace ?? 'default'}/${name}`;

function controllerOf(metadata: JsonObject): { readonly kind: string; readonly name: string } | undefined {
  const owners = Array.isArray(metadata['ownerReferences']) ? metadata['ownerReferences'].filter(isJsonObject) : [];
  const controller = owners.find((owner) => owner['controller'] === true);
  const { kind, name } = controller ?? {};
  return typeof kind === 'string' && typeof name === 'string' ? { kind, name } : undefined;
}
