/**
 * Status conditions as a sorted set with one root, which is recomputed on every change. A root is True when all its
 * dependents are True at the object's current generation, False when one of them is False at it, and Unknown otherwise.
 */
import { InvariantError } from '../errors/invariantError.ts';
import { timestamp } from '../units/timestamp.ts';
import {
  AksNodeClassConditions,
  NodeClaimConditions,
  NodeOverlayConditions,
  NodePoolConditions,
  READY,
  Reasons,
} from './conditionTypes.ts';
import type { Condition, ConditionStatus, KubeObject } from './object.ts';

export interface ConditionTypes {
  readonly root: string;
  readonly dependents: readonly string[];
}

export const NODE_CLAIM_CONDITIONS: ConditionTypes = {
  root: READY,
  dependents: [NodeClaimConditions.launched, NodeClaimConditions.registered, NodeClaimConditions.initialized],
};
export const NODE_POOL_CONDITIONS: ConditionTypes = {
  root: READY,
  dependents: [NodePoolConditions.validationSucceeded, NodePoolConditions.nodeClassReady],
};
export const NODE_OVERLAY_CONDITIONS: ConditionTypes = {
  root: READY,
  dependents: [NodeOverlayConditions.validationSucceeded],
};
export const AKS_NODE_CLASS_CONDITIONS: ConditionTypes = {
  root: READY,
  dependents: [
    AksNodeClassConditions.imagesReady,
    AksNodeClassConditions.kubernetesVersionReady,
    AksNodeClassConditions.subnetsReady,
    AksNodeClassConditions.validationSucceeded,
    AksNodeClassConditions.localDnsReady,
  ],
};

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: readonly StoredCondition[] };
}

/** The schema's type, which guarantees less than `Condition`. */
type StoredCondition = Omit<Condition, 'status'> & { readonly status: string };

/** New content of one condition. */
interface Statement {
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
}

/**
 * Works on a copy: read `conditions` at the end and write them to the object's status. Missing root and dependents are
 * Unknown since the object's creation.
 */
export class ConditionSet {
  private readonly types: ConditionTypes;
  private readonly generation: number;
  private readonly created: string;
  private readonly deleting: boolean;
  private current: Condition[];

  constructor(types: ConditionTypes, object: WithConditions, now: number) {
    const { metadata } = object;
    this.types = types;
    this.generation = metadata.generation ?? 0;
    this.created = metadata.creationTimestamp ?? timestamp(now);
    this.deleting = metadata.deletionTimestamp !== undefined;
    this.current = (object.status?.conditions ?? []).map((condition) => ({
      ...condition,
      status: statusOf(condition.status),
    }));
    for (const type of [types.root, ...types.dependents]) {
      if (this.get(type) === undefined) this.setUnknown(type, now);
    }
  }

  /** Sorted by last transition, the root at the end. */
  get conditions(): Condition[] {
    return this.current.map((condition) => ({ ...condition }));
  }

  get root(): Condition | undefined {
    return this.get(this.types.root);
  }

  get(type: string): Condition | undefined {
    return this.current.find((condition) => condition.type === type);
  }

  isTrue(...types: readonly string[]): boolean {
    return types.every((type) => this.get(type)?.status === 'True');
  }

  /** Each setter returns whether anything changed. */
  setTrue(type: string, now: number, reason: string = type, message = ''): boolean {
    return this.set(type, { status: 'True', reason, message }, now);
  }

  setFalse(type: string, now: number, reason: string, message: string): boolean {
    return this.set(type, { status: 'False', reason, message }, now);
  }

  setUnknown(
    type: string,
    now: number,
    reason: string = Reasons.awaitingReconciliation,
    message = 'object is awaiting reconciliation',
  ): boolean {
    return this.set(type, { status: 'Unknown', reason, message }, now);
  }

  /** Repeats the condition's content for the object's current generation. */
  refresh(type: string, now: number): boolean {
    const { status, reason = '', message = '' } = this.get(type) ?? {};
    return status !== undefined && this.set(type, { status, reason, message }, now);
  }

  /** Removes a condition; the root and its dependents always exist and cannot be removed. */
  clear(type: string): boolean {
    if (this.isPermanent(type))
      throw new InvariantError(`condition ${type} is part of ${this.types.root} and cannot be cleared`);
    const before = this.current.length;
    this.current = this.current.filter((condition) => condition.type !== type);
    return this.current.length !== before;
  }

  private isPermanent(type: string): boolean {
    return type === this.types.root || this.types.dependents.includes(type);
  }

  private set(type: string, statement: Statement, now: number): boolean {
    const previous = this.get(type);
    const next: Condition = {
      type,
      ...statement,
      lastTransitionTime: this.transitionTime(type, statement, previous, now),
      observedGeneration: this.generation,
    };
    if (previous !== undefined && sameCondition(previous, next)) return false;
    const others = this.current.filter((condition) => condition.type !== type);
    // Other conditions of an object being deleted are no longer reconciled, so they are not marked outdated.
    const bumped = this.deleting ? others.map((each) => ({ ...each, observedGeneration: this.generation })) : others;
    this.current = this.sorted([...bumped, next]);
    if (type !== this.types.root) this.recomputeRoot(now);
    return true;
  }

  private transitionTime(type: string, statement: Statement, previous: Condition | undefined, now: number): string {
    if (previous === undefined) return this.isPermanent(type) ? this.created : timestamp(now);
    return previous.status === statement.status ? previous.lastTransitionTime : timestamp(now);
  }

  private recomputeRoot(now: number): void {
    const unhealthy = this.current
      .filter(
        (condition) =>
          this.types.dependents.includes(condition.type) &&
          (condition.status !== 'True' || condition.observedGeneration !== this.generation),
      )
      .sort((left, right) => timeOf(right) - timeOf(left));
    if (unhealthy.length === 0) {
      this.setTrue(this.types.root, now);
      return;
    }
    const failed = unhealthy.some(
      (condition) => condition.status === 'False' && condition.observedGeneration === this.generation,
    );
    const message = unhealthy.map((condition) => `${condition.type}=${condition.status}`).join(', ');
    if (failed) this.setFalse(this.types.root, now, Reasons.unhealthyDependents, message);
    else this.setUnknown(this.types.root, now, Reasons.reconcilingDependents, message);
  }

  private sorted(conditions: readonly Condition[]): Condition[] {
    const { root } = this.types;
    return [...conditions].sort((left, right) => {
      if (left.type === root || right.type === root) return Number(left.type === root) - Number(right.type === root);
      return timeOf(left) - timeOf(right);
    });
  }
}

/** The condition of an object without completing the set: for objects managed by others. */
export function findCondition(object: WithConditions, type: string): Condition | undefined {
  const found = object.status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : { ...found, status: statusOf(found.status) };
}

function statusOf(text: string): ConditionStatus {
  return text === 'True' || text === 'False' ? text : 'Unknown';
}

function timeOf(condition: Condition): number {
  return Date.parse(condition.lastTransitionTime);
}

/** A missing reason or message equals an empty one, because the API server drops empty strings of some kinds. */
function sameCondition(left: Condition, right: Condition): boolean {
  return (
    left.status === right.status &&
    left.lastTransitionTime === right.lastTransitionTime &&
    (left.reason ?? '') === (right.reason ?? '') &&
    (left.message ?? '') === (right.message ?? '') &&
    (left.observedGeneration ?? 0) === (right.observedGeneration ?? 0)
  );
}
