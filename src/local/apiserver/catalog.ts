/** The resources that are currently served: the built-in ones and those of the CRDs in the store. */
import { builtinResources } from './builtinResources.ts';
import { customResources } from './customResources.ts';
import type { ApiObject } from './fields.ts';
import type { Resource } from './resource.ts';
import type { Store } from './store.ts';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

export class Catalog {
  /** Incremented by every change: a cheap key for caches of data derived from the catalogue. */
  generation = 0;
  private readonly byPath = new Map<string, Resource>();
  private readonly byDefinition = new Map<string, readonly Resource[]>();
  private readonly builtin = builtinResources();

  constructor(store: Store) {
    for (const resource of this.builtin) this.byPath.set(pathOf(resource), resource);
    // Called within the write, so that a CRD can be used as soon as it has been created.
    store.subscribe((event, table) => {
      if (table.id !== DEFINITIONS) return;
      this.withdraw(event.object.metadata.name);
      if (event.type !== 'DELETED') this.serve(event.object);
    });
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.byPath.get(pathOf({ group, version, plural }));
  }

  /** Returns the resource of a kind, in another version if that of `apiVersion` is not served. */
  findKind(apiVersion: string, kind: string): Resource | undefined {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const version = apiVersion.slice(slash + 1);
    let fallback: Resource | undefined;
    for (const resource of this.byPath.values()) {
      if (resource.group !== group || resource.kind !== kind) continue;
      if (resource.version === version) return resource;
      fallback ??= resource;
    }
    return fallback;
  }

  all(): Resource[] {
    return [...this.byPath.values()];
  }

  private serve(definition: ApiObject): void {
    const served = customResources(definition).filter((resource) => !this.byPath.has(pathOf(resource)));
    for (const resource of served) this.byPath.set(pathOf(resource), resource);
    this.byDefinition.set(definition.metadata.name, served);
    this.generation++;
  }

  private withdraw(name: string): void {
    for (const resource of this.byDefinition.get(name) ?? []) this.byPath.delete(pathOf(resource));
    this.byDefinition.delete(name);
    this.generation++;
  }
}

function pathOf(resource: { readonly group: string; readonly version: string; readonly plural: string }): string {
  return `${resource.group}/${resource.version}/${resource.plural}`;
}
