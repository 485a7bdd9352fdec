/** The behaviour of one resource type as data, from which `resourceRoutes` serves it. */
import type { ArmContext, ArmDurations } from '../armContext.ts';
import type { ArmError } from '../armError.ts';
import type { JsonObject } from '../jsonPath.ts';
import type { Operation } from '../operations.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest } from '../server/router.ts';

/** A PUT or PATCH that has passed the common checks. */
export interface ResourceWrite {
  readonly context: ArmContext;
  readonly request: ArmRequest;
  readonly id: string;
  readonly name: string;
  readonly body: unknown;
  readonly existing: ArmResource | undefined;
}

/** Query parameters of a read. */
export interface ReadOptions {
  readonly apiVersion: string;
  /** `$expand` in lower case. */
  readonly expand: string;
}

export interface ResourceKind {
  /** For example `Microsoft.Network/virtualNetworks/subnets`. */
  readonly type: string;
  /** Prefix of operation names; by default the last segment of the type. */
  readonly operations?: string;
  /** Has a location and tags of its own, and is listed in the whole subscription. */
  readonly tracked: boolean;
  /** Has a location and tags although it is listed below its parent only. */
  readonly tagged?: true;
  /**
   * Response to a PUT: the finished resource; the unfinished one and an operation (201, or 200 for an update); or 202
   * and an operation. Absent: clients cannot write this type.
   */
  readonly put?: 'sync' | 'async' | 'accepted';
  /** Whether PATCH changes only tags or merges the body. Absent: clients cannot patch this type. */
  readonly patch?: 'tags' | 'merge';
  /** Absent: clients cannot delete this type. */
  readonly remove?: 'sync' | 'accepted';
  readonly duration: keyof ArmDurations;
  /** Accepts a change while another is in progress, which is otherwise refused. */
  readonly interruptible?: true;
  /** Returns the provider's own error for a change while another is in progress. */
  readonly busy?: (resource: ArmResource, underWay: Operation) => ArmError;
  /** Returns the properties to store, without the provisioning state; throws when the provider refuses the body. */
  readonly properties: (write: ResourceWrite) => JsonObject;
  /** Returns the provider's message around an error that is found before a template is deployed. */
  readonly preflight?: (name: string, group: string, refused: ArmError) => string;
  /** Returns members to store that are never shown. */
  readonly hidden?: (write: ResourceWrite) => JsonObject;
  /** Returns the resource as clients see it. */
  readonly show?: (context: ArmContext, resource: ArmResource, options: ReadOptions) => object;
  readonly afterPut?: (context: ArmContext, resource: ArmResource, write: ResourceWrite) => void;
  readonly checkDelete?: (context: ArmContext, resource: ArmResource) => void;
  readonly afterDelete?: (context: ArmContext, resource: ArmResource) => void;
  /** Top-level members besides location, tags, zones and identity that a client may set. */
  readonly members?: readonly ('sku' | 'kind' | 'managedBy')[];
}
