/** The resources and groups of the local Azure as plain JSON, found by id, type or parent without regard to case. */
import { refusal } from './refusal.ts';
import type { JsonObject } from './jsonPath.ts';

export interface ArmResource {
  readonly id: string;
  readonly name: string;
  /** For example `Microsoft.Compute/virtualMachines`. */
  readonly type: string;
  readonly location?: string;
  readonly zones?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly identity?: unknown;
  readonly sku?: unknown;
  readonly kind?: string;
  readonly managedBy?: string;
  readonly etag: string;
  readonly properties: JsonObject;
  /** Members that Azure keeps but never shows. */
  readonly hidden?: JsonObject;
}

export interface ResourceGroup {
  readonly name: string;
  readonly location: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly managedBy?: string;
  readonly provisioningState: 'Succeeded' | 'Deleting';
}

/** One change of the store as plain JSON, from which another store can repeat it. */
export type StoreChange =
  | { readonly resource: ArmResource }
  | { readonly removed: string }
  | { readonly group: ResourceGroup }
  | { readonly removedGroup: string };

export type StoreListener = (before: ArmResource | undefined, after: ArmResource | undefined) => void;

interface TypeIndex {
  readonly byKey: Map<string, ArmResource>;
  /** Sorted keys; undefined after a key was added or removed. */
  order: readonly string[] | undefined;
}

const EMPTY: ReadonlySet<string> = new Set();

export class ResourceStore {
  readonly subscriptionId: string;
  private readonly groups = new Map<string, ResourceGroup>();
  private readonly resources = new Map<string, ArmResource>();
  private readonly types = new Map<string, TypeIndex>();
  private readonly childKeys = new Map<string, Set<string>>();
  private readonly listeners = new Set<StoreListener>();
  private readonly subscribers = new Set<(change: StoreChange) => void>();

  constructor(subscriptionId: string) {
    this.subscriptionId = subscriptionId;
  }

  putGroup(group: ResourceGroup): void {
    this.groups.set(group.name.toLowerCase(), group);
    this.announce({ group });
  }

  deleteGroup(name: string): void {
    if (this.groups.delete(name.toLowerCase())) this.announce({ removedGroup: name });
  }

  findGroup(name: string): ResourceGroup | undefined {
    return this.groups.get(name.toLowerCase());
  }

  /** Throws 404 when there is no such group. */
  group(name: string): ResourceGroup {
    const found = this.findGroup(name);
    if (found === undefined) throw refusal('ResourceGroupNotFound', { name });
    return found;
  }

  allGroups(): readonly ResourceGroup[] {
    return [...this.groups.values()].toSorted((left, right) =>
      left.name.toLowerCase() < right.name.toLowerCase() ? -1 : 1,
    );
  }

  /** Returns the id of a resource; a child type such as `Microsoft.Network/virtualNetworks/subnets` takes two names. */
  idOf(group: string, type: string, ...names: readonly string[]): string {
    const [namespace = '', ...kinds] = type.split('/');
    const path = kinds.map((kind, index) => `${kind}/${names[index] ?? ''}`).join('/');
    return `${this.groupId(this.group(group).name)}/providers/${namespace}/${path}`;
  }

  groupId(name: string): string {
    return `/subscriptions/${this.subscriptionId}/resourceGroups/${name}`;
  }

  put(resource: ArmResource): void {
    const key = resource.id.toLowerCase();
    const before = this.resources.get(key);
    const index = this.indexOf(resource.type);
    if (before === undefined) {
      index.order = undefined;
      const parent = parentOf(key);
      if (parent !== undefined) addTo(this.childKeys, parent, key);
    }
    this.resources.set(key, resource);
    index.byKey.set(key, resource);
    for (const listener of this.listeners) listener(before, resource);
    this.announce({ resource });
  }

  delete(id: string): void {
    const key = id.toLowerCase();
    const before = this.resources.get(key);
    if (before === undefined) return;
    this.resources.delete(key);
    const index = this.indexOf(before.type);
    index.byKey.delete(key);
    index.order = undefined;
    const parent = parentOf(key);
    const siblings = parent === undefined ? undefined : this.childKeys.get(parent);
    siblings?.delete(key);
    if (parent !== undefined && siblings?.size === 0) this.childKeys.delete(parent);
    for (const listener of this.listeners) listener(before, undefined);
    this.announce({ removed: id });
  }

  /** Deletes a resource and everything below it. */
  deleteTree(id: string): void {
    for (const child of this.children(id)) this.deleteTree(child.id);
    this.delete(id);
  }

  find(id: string): ArmResource | undefined {
    return this.resources.get(id.toLowerCase());
  }

  /** Returns undefined also when the group does not exist. */
  findIn(group: string, type: string, ...names: readonly string[]): ArmResource | undefined {
    return this.findGroup(group) && this.find(this.idOf(group, type, ...names));
  }

  /** Throws 404 when there is no such resource. */
  get(group: string, type: string, ...names: readonly string[]): ArmResource {
    const resource = this.find(this.idOf(group, type, ...names));
    if (resource === undefined) throw refusal('ResourceNotFound', { type, path: names.join('/'), group });
    return resource;
  }

  /** Returns the resources of a type, in one group or in all, ordered by id so that pages do not shift. */
  list(type: string, group?: string): readonly ArmResource[] {
    const index = this.indexOf(type);
    index.order ??= [...index.byKey.keys()].sort();
    const prefix = group === undefined ? '' : `${this.groupId(this.group(group).name)}/`.toLowerCase();
    const found: ArmResource[] = [];
    for (const key of index.order) {
      const resource = key.startsWith(prefix) ? index.byKey.get(key) : undefined;
      if (resource !== undefined) found.push(resource);
    }
    return found;
  }

  /** Returns the direct children of a resource, of one type when it is given. */
  children(id: string, type?: string): readonly ArmResource[] {
    const keys = this.childKeys.get(id.toLowerCase()) ?? EMPTY;
    return [...keys]
      .toSorted()
      .map((key) => this.resources.get(key))
      .filter((child): child is ArmResource => child !== undefined)
      .filter((child) => type === undefined || child.type.toLowerCase() === type.toLowerCase());
  }

  /** Returns all resources, of one group when it is given, ordered by id. */
  all(group?: string): readonly ArmResource[] {
    const prefix = group === undefined ? '' : `${this.groupId(this.group(group).name)}/`.toLowerCase();
    return [...this.resources]
      .filter(([key]) => key.startsWith(prefix))
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([, resource]) => resource);
  }

  /** Calls the listener with every change from now on. Returns a function that ends the subscription. */
  onChange(listener: StoreListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Like `onChange`, also for groups, with changes in a form that can be stored. */
  subscribe(subscriber: (change: StoreChange) => void): () => void {
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  }

  /** Repeats a change of another store or of an earlier process. */
  apply(change: StoreChange): void {
    if ('resource' in change) this.put(change.resource);
    else if ('removed' in change) this.delete(change.removed);
    else if ('group' in change) this.putGroup(change.group);
    else if ('removedGroup' in change) this.deleteGroup(change.removedGroup);
  }

  /** Yields changes that give an empty store the contents of this one. */
  *snapshot(): Iterable<StoreChange> {
    for (const group of this.groups.values()) yield { group };
    for (const resource of this.resources.values()) yield { resource };
  }

  private announce(change: StoreChange): void {
    for (const subscriber of this.subscribers) subscriber(change);
  }

  private indexOf(type: string): TypeIndex {
    const key = type.toLowerCase();
    const known = this.types.get(key);
    if (known !== undefined) return known;
    const index: TypeIndex = { byKey: new Map(), order: [] };
    this.types.set(key, index);
    return index;
  }
}

/** Returns the members of a resource that clients see. */
export function present({ hidden: _hidden, ...shown }: ArmResource): Omit<ArmResource, 'hidden'> {
  return shown;
}

/** Returns `…/virtualMachines/x` for `…/virtualMachines/x/extensions/y`; undefined for a resource without a parent. */
function parentOf(key: string): string | undefined {
  const steps = key.split('/');
  const provider = steps.lastIndexOf('providers');
  return steps.length - provider > 4 ? steps.slice(0, -2).join('/') : undefined;
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key) ?? new Set<string>();
  set.add(value);
  map.set(key, set);
}
