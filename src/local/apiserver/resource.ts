/**
 * The description of a served resource, built-in (builtinResources.ts) or from a CRD (customResources.ts), for storage,
 * patches, tables, discovery and OpenAPI.
 */
import type { Defaults } from './defaults.ts';
import type { ApiObject } from './fields.ts';
import type { SelectableFields } from './selectors.ts';
import type { OpenApiSchema, Shape } from './shape.ts';
import type { Check } from './strategies/check.ts';

/** The part of a resource that discovery shows. */
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
  /** From a CRD: validated by its schema; strategic merge patches are not supported. */
  readonly custom: boolean;
  /** Whether `status` is a subresource. */
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  /** Subresources besides status and scale, such as `eviction` and `binding`. */
  readonly actions: readonly Action[];
  readonly verbs: readonly string[];
  /** Group, version and kind in which objects are stored, if different from the served ones. */
  readonly storageKind?: string | undefined;
}

/** Optional fields of a listed resource, all empty. */
export const PLAIN = {
  shortNames: [],
  categories: [],
  custom: false,
  hasStatus: false,
  scale: undefined,
  actions: [],
} as const;

export interface Resource extends ListedResource {
  /** Warning in every response. */
  readonly deprecation?: string | undefined;
  /** Name of the type in OpenAPI documents; `schema` is undefined for built-in types. */
  readonly typeName: string;
  readonly schema: OpenApiSchema | undefined;
  readonly shape: Shape;
  readonly strategy: Strategy;
  readonly columns: readonly Column[];
  /** Returns the conditions of a table row; undefined for none. */
  readonly rowConditions?: ((object: ApiObject) => readonly object[] | undefined) | undefined;
  readonly selectable: SelectableFields;
  /** Whether errors about field selectors name the supported fields. */
  readonly namesSelectable: boolean;
  /** Whether a replace may omit the resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** The table of the objects; kinds may share one. */
  readonly storage: StorageView;
}

/** Identifies one object. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface StorageView {
  readonly group: string;
  readonly plural: string;
  /** Converts the stored form to the served form; undefined if they are the same. */
  readonly decode?: ((stored: ApiObject) => ApiObject) | undefined;
  readonly encode?: ((served: ApiObject) => ApiObject) | undefined;
}

export interface Action {
  readonly name: string;
  /** Default: `create`. */
  readonly verbs?: readonly string[];
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Paths as in CRDs, such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly selector: string | undefined;
}

/** Access of strategies to the time, randomness and other stored objects. */
export interface StrategyContext {
  now(): string;
  /** Returns five random characters, as at the end of generated names. */
  suffix(): string;
  find(group: string, plural: string, key: string): ApiObject | undefined;
  all(group: string, plural: string): Iterable<ApiObject>;
  inNamespace(group: string, plural: string, namespace: string): Iterable<ApiObject>;
  any(group: string, plural: string): boolean;
}

/** The rules of one kind. Drafts are private and may be changed in place; `old` is frozen. */
export interface Strategy {
  /** Whether changes of the desired state increment `metadata.generation`. */
  readonly tracksGeneration?: boolean;
  /** Whether changed annotations increment it too, because a controller copies them elsewhere. */
  readonly countsAnnotations?: boolean;
  /** Whether a create may set the status (kubelets register nodes with one). */
  readonly keepsStatusOnCreate?: boolean;
  /** Default values, set on every write. */
  readonly defaults?: Defaults;
  /** Sets default values that `defaults` cannot express. */
  applyDefaults?(draft: ApiObject): void;
  /** Default values of writes through the status endpoint. */
  readonly statusDefaults?: Defaults;
  /** Sets the fields that the server decides on creation, and runs admission. Throws to reject. */
  prepareCreate?(draft: ApiObject, context: StrategyContext, warn?: (message: string) => void): void;
  /** Changes the object on its first deletion. */
  prepareDelete?(draft: ApiObject, context: StrategyContext): void;
  prepareUpdate?(draft: ApiObject, old: ApiObject, context: StrategyContext): void;
  /** The rules of updates through subresources, which replace those of the main endpoint. */
  readonly subresources?: Readonly<Record<string, Pick<Strategy, 'prepareUpdate' | 'validate'>>>;
  /** Reports all errors of the draft. */
  validate?(check: Check, draft: ApiObject, old: ApiObject | undefined): void;
  /** Returns warnings of accepted values that are probably mistakes. */
  warnings?(draft: ApiObject): readonly string[];
  /** Whether another controller completes deletions: they have no grace period and do not increment the generation. */
  readonly ownsDeletion?: boolean;
  /** Returns the grace period of a deletion in seconds; 0 removes at once. */
  gracePeriod?(object: ApiObject, requested: number | undefined): number;
}

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'number' | 'date';
  readonly format?: string;
  /** 1: shown only with `-o wide`. */
  readonly priority?: number;
  readonly description?: string;
  /** Returns the content of a cell. `now`: milliseconds, for ages. */
  cell(object: ApiObject, now: number): unknown;
}

/** Splits a path such as `.spec.replicas` into field names. */
export function pathNames(path: string): string[] {
  return path.split('.').filter((name) => name !== '');
}
