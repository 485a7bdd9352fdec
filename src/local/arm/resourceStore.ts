/**
 * The resources of the subscription. In: resources with ARM ids. Out: the same, found by id or by group and type in
 * any case of letters, as ARM compares them.
 */
import { ArmError } from './armError.ts';
import type { JsonObject } from './jsonPath.ts';

export interface ArmResource {
  readonly id: string;
  readonly name: string;
  /** `Microsoft.Compute/virtualMachines`. */
  readonly type: string;
  readonly location?: string;
  readonly zones?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly identity?: unknown;
  readonly etag: string;
  readonly properties: JsonObject;
}

/** A resource as it is now, or the id of one that is gone. `secrets` is what Azure keeps of it but never shows. */
export type ResourceChange =
  { readonly resource: ArmResource; readonly secrets?: JsonObject | undefined } | { readonly removed: string };

export class ResourceStore {
  readonly subscriptionId: string;
  private readonly groups = new Map<string, string>();
  private readonly resources = new Map<string, ArmResource>();
  private readonly secrets = new Map<string, JsonObject>();
  private readonly listeners = new Set<(change: ResourceChange) => void>();

  constructor(subscriptionId: string) {
    this.subscriptionId = subscriptionId;
  }

  addGroup(name: string): void {
    this.groups.set(name.toLowerCase(), name);
  }

  /** The group's name as it was created; 404 when there is no such group. */
  group(name: string): string {
    const found = this.groups.get(name.toLowerCase());
    if (found === undefined) {
      throw new ArmError(404, 'ResourceGroupNotFound', `Resource group '${name}' could not be found.`);
    }
    return found;
  }

  /** `type` has one or more steps: `Microsoft.Network/virtualNetworks/subnets` takes two names. */
  idOf(group: string, type: string, ...names: readonly string[]): string {
    const [namespace = '', ...kinds] = type.split('/');
    const path = kinds.map((kind, index) => `${kind}/${names[index] ?? ''}`).join('/');
    return `/subscriptions/${this.subscriptionId}/resourceGroups/${this.group(group)}/providers/${namespace}/${path}`;
  }

  put(resource: ArmResource): void {
    this.resources.set(resource.id.toLowerCase(), resource);
    this.announce({ resource, secrets: this.secretsOf(resource.id) });
  }

  /** Puts a resource together with what Azure keeps of it but never shows. */
  putSecretly(resource: ArmResource, secrets: JsonObject | undefined): void {
    if (secrets !== undefined) this.secrets.set(resource.id.toLowerCase(), secrets);
    this.put(resource);
  }

  secretsOf(id: string): JsonObject | undefined {
    return this.secrets.get(id.toLowerCase());
  }

  delete(id: string): void {
    this.secrets.delete(id.toLowerCase());
    if (this.resources.delete(id.toLowerCase())) this.announce({ removed: id });
  }

  /** Calls `listener` inside each change. Returns the way to stop. */
  subscribe(listener: (change: ResourceChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  all(): Iterable<ArmResource> {
    return this.resources.values();
  }

  find(id: string): ArmResource | undefined {
    return this.resources.get(id.toLowerCase());
  }

  /** 404 with ARM's own words when absent. */
  get(group: string, type: string, ...names: readonly string[]): ArmResource {
    const resource = this.find(this.idOf(group, type, ...names));
    if (resource === undefined) {
      throw new ArmError(
        404,
        'ResourceNotFound',
        `The Resource '${type}/${names.join('/')}' under resource group '${group}' was not found.`,
      );
    }
    return resource;
  }

  /** All resources of a type, in one group or in all, ordered by id so that pages do not shift. */
  list(type: string, group?: string): readonly ArmResource[] {
    const prefix =
      group === undefined
        ? ''
        : `/subscriptions/${this.subscriptionId}/resourceGroups/${this.group(group)}/`.toLowerCase();
    return [...this.resources]
      .filter(([key, resource]) => key.startsWith(prefix) && resource.type.toLowerCase() === type.toLowerCase())
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([, resource]) => resource);
  }

  private announce(change: ResourceChange): void {
    for (const listener of this.listeners) listener(change);
  }
}
