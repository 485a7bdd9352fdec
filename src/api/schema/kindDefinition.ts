/** What a custom kind is beyond its schema; each file in `kinds/` fills in one. */
import type { Schema } from './builder.ts';

interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  /** 1 shows the column only in wide output. */
  readonly priority?: number;
}

export interface KindVersion {
  readonly name: string;
  readonly storage: boolean;
  /** Set on versions that are still served but should not be used any more: what to tell the user. */
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
