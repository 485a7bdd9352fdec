/** How one type of resource behaves, as data: what `resourceRoutes` needs to serve it. */
import type { ArmContext, ArmDurations } from '../armContext.ts';
import type { ArmError } from '../armError.ts';
import type { JsonObject } from '../jsonPath.ts';
import type { Operation } from '../operations.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest } from '../server/router.ts';

/** A PUT or PATCH that has passed the common checks. */
export interface Wish {
  readonly context: ArmContext;
  readonly request: ArmRequest;
  readonly id: string;
  readonly name: string;
  readonly body: unknown;
  readonly existing: ArmResource | undefined;
}

/** How a client asks for a resource. */
export interface Asked {
  readonly apiVersion: string;
  /** What it asks for in addition (`$expand`), in lower case. */
  readonly expand: string;
}

export interface ResourceKind {
  /** `Microsoft.Network/virtualNetworks/subnets`: one or more steps. */
  readonly type: string;
  /** What its operations are called; the last step of the type unless given. */
  readonly operations?: string;
  /** Has a location and tags of its own, and is listed in the whole subscription. */
  readonly tracked: boolean;
  /** Has a location and tags although it is listed below its parent only. */
  readonly tagged?: true;
  /**
   * How a PUT is answered: with the finished resource; with the unfinished one and an operation (201, or 200 when it
   * was there); or with a mere acceptance and an operation (202). Absent: clients cannot write this type.
   */
  readonly put?: 'sync' | 'async' | 'accepted';
  /** PATCH changes tags only, merges what it is given, or does not exist. */
  readonly patch?: 'tags' | 'merge';
  /** Absent: clients cannot delete this type. */
  readonly remove?: 'sync' | 'accepted';
  readonly duration: keyof ArmDurations;
  /** A change may begin while another is under way; usually that is refused. */
  readonly interruptible?: true;
  /** The provider's words for a change that comes while another is under way. */
  readonly busy?: (resource: ArmResource, underWay: Operation) => ArmError;
  /** What is stored as properties, without the provisioning state; throws what the provider would refuse. */
  readonly properties: (wish: Wish) => JsonObject;
  /** Says before a template is deployed what is wrong with a resource of it: the provider's words around its refusal. */
  readonly preflight?: (name: string, group: string, refused: ArmError) => string;
  /** What is kept and never shown. */
  readonly hidden?: (wish: Wish) => JsonObject;
  /** What changes between the store and the client. */
  readonly show?: (context: ArmContext, resource: ArmResource, asked: Asked) => object;
  readonly afterPut?: (context: ArmContext, resource: ArmResource, wish: Wish) => void;
  readonly checkDelete?: (context: ArmContext, resource: ArmResource) => void;
  readonly afterDelete?: (context: ArmContext, resource: ArmResource) => void;
  /** Top-level members besides location, tags, zones and identity that a client may set. */
  readonly members?: readonly ('sku' | 'kind' | 'managedBy')[];
}
