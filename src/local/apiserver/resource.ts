/**
 * What the server knows about one served resource, built-in (builtinResources.ts) or from a CRD (customResources.ts):
 * storage, patches, tables, discovery and OpenAPI all read this.
 */
import type { Defaults } from './defaults.ts';
import type { ApiObject } from './fields.ts';
import type { SelectableFields } from './selectors.ts';
import type { OpenApiSchema, Shape } from './shape.ts';
import type { Check } from './strategies/check.ts';

/** What discovery tells of a resource. */
export interface ListedResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Served from a CRD: schema validation applies, strategic merge does not. */
  readonly custom: boolean;
  /** `status` is written through its own subresource. */
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  /** `eviction`, `binding`, … : POST-only subresources beyond status and scale. */
  readonly actions: readonly Action[];
  readonly verbs: readonly string[];
  /** Group, version and kind that objects are stored as, when another than the served one. */
  readonly storageKind?: string | undefined;
}

/** A resource without any of the extras. */
export const PLAIN = {
  shortNames: [],
  categories: [],
  custom: false,
  hasStatus: false,
  scale: undefined,
  actions: [],
} as const;

export interface Resource extends ListedResource {
  /** What every answer warns of. */
  readonly deprecation?: string | undefined;
  /** Name of the type in OpenAPI documents, and its schema when it is not one of Kubernetes' own. */
  readonly typeName: string;
  readonly schema: OpenApiSchema | undefined;
  readonly shape: Shape;
  readonly strategy: Strategy;
  readonly columns: readonly Column[];
  /** What a table row says about its object beside the cells; `undefined` for nothing. */
  readonly rowConditions?: ((object: ApiObject) => readonly object[] | undefined) | undefined;
  readonly selectable: SelectableFields;
  /** A refused field selector names those that would have been understood. */
  readonly namesSelectable: boolean;
  /** A replace may leave out the version that it replaces. */
  readonly unconditionalUpdate: boolean;
  /** Where objects live: kinds that share storage name the same one. */
  readonly storage: StorageView;
}

/** The address of one object. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface StorageView {
  readonly group: string;
  readonly plural: string;
  /** Stored form to served form; `undefined` when they are the same. */
  readonly decode?: ((stored: ApiObject) => ApiObject) | undefined;
  readonly encode?: ((served: ApiObject) => ApiObject) | undefined;
}

export interface Action {
  readonly name: string;
  /** `create` unless given. */
  readonly verbs?: readonly string[];
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Dotted paths, as CRDs write them: `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly selector: string | undefined;
}

/** What a strategy may look at besides the object at hand. */
export interface StrategyContext {
  now(): string;
  /** Five random characters, as generated names end in. */
  suffix(): string;
  find(group: string, plural: string, key: string): ApiObject | undefined;
  all(group: string, plural: string): Iterable<ApiObject>;
  inNamespace(group: string, plural: string, namespace: string): Iterable<ApiObject>;
  any(group: string, plural: string): boolean;
}

/** The rules of one kind. Drafts are private and may be changed in place; `old` is frozen. */
export interface Strategy {
  /** Changes of what a user wants are counted in `metadata.generation`. */
  readonly tracksGeneration?: boolean;
  /** Its annotations are copied elsewhere, so a change of them counts, too. */
  readonly countsAnnotations?: boolean;
  /** Status that arrives with a create is kept (nodes register with theirs). */
  readonly keepsStatusOnCreate?: boolean;
  /** What is filled in where the writer left it out, on every write. */
  readonly defaults?: Defaults;
  /** The same beyond what a table can say. */
  applyDefaults?(draft: ApiObject): void;
  /** The defaults of writes through the status endpoint, where everything else is already complete. */
  readonly statusDefaults?: Defaults;
  /** Admission: what the server decides on creation. Throws to refuse. */
  prepareCreate?(draft: ApiObject, context: StrategyContext, warn?: (message: string) => void): void;
  /** The first step of a deletion. */
  prepareDelete?(draft: ApiObject, context: StrategyContext): void;
  prepareUpdate?(draft: ApiObject, old: ApiObject, context: StrategyContext): void;
  /** The rules of updates through a subresource, in place of those of the object itself. */
  readonly subresources?: Readonly<Record<string, Pick<Strategy, 'prepareUpdate' | 'validate'>>>;
  /** Reports everything that is wrong with the draft. */
  validate?(check: Check, draft: ApiObject, old: ApiObject | undefined): void;
  /** What is accepted but probably a mistake. */
  warnings?(draft: ApiObject): readonly string[];
  /** A controller of its own ends it: deletion carries no grace and is no new generation. */
  readonly ownsDeletion?: boolean;
  /** Seconds between a delete and the end; 0 removes at once. */
  gracePeriod?(object: ApiObject, requested: number | undefined): number;
}

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'number' | 'date';
  readonly format?: string;
  /** 1: only with `-o wide`. */
  readonly priority?: number;
  readonly description?: string;
  /** `now` in milliseconds, for ages. */
  cell(object: ApiObject, now: number): unknown;
}

/** A path such as `.spec.replicas` as its names. */
export function pathNames(path: string): string[] {
  return path.split('.').filter((name) => name !== '');
}
