/** One line of the tables of built-in resources. In: what a row leaves out has its usual value. Out: the type. */
import type { ApiObject } from '../fields.ts';
import type { Action, Column, ScalePaths, StorageView, Strategy } from '../resource.ts';

export interface Row {
  readonly kind: string;
  readonly plural: string;
  readonly scope?: 'Cluster';
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly status?: boolean;
  readonly scale?: ScalePaths;
  readonly actions?: readonly Action[];
  readonly strategy?: Strategy;
  readonly columns?: readonly Column[];
  readonly rowConditions?: (object: ApiObject) => readonly object[] | undefined;
  readonly deprecation?: string;
  /** All of them unless given. */
  readonly verbs?: readonly string[];
  /** A replace must name the version that it replaces. */
  readonly conditionalUpdate?: boolean;
  /** `group/version/Kind` of the stored form, when another than the served one. */
  readonly storageKind?: string;
  readonly selectable?: readonly string[];
  readonly storage?: StorageView;
}

/** All served kinds of one API version, with the prefix of their types' names in OpenAPI. */
export interface GroupRows {
  readonly apiVersion: string;
  readonly types: string;
  readonly rows: readonly Row[];
}
