/** Definition of a custom kind besides its schema; one per file in `kinds/`. */
import type { Schema } from './builder.ts';

interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  /** 1: shown only in wide output. */
  readonly priority?: number;
}

export interface KindVersion {
  readonly name: string;
  readonly storage: boolean;
  /** Warning for versions that are still served but deprecated. */
  readonly deprecationWarning?: string;
}

export interface KindDefinition<Spec, Status> {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  /** All served versions; they share one schema. */
  readonly versions: readonly KindVersion[];
  readonly columns: readonly PrinterColumn[];
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string };
  readonly spec: Schema<Spec, 'optional' | 'present'>;
  readonly status: Schema<Status, 'optional' | 'present'>;
}
