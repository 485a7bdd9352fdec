/** Messages between the dashboard and the thread that computes its answers: plain data only. */
import type { MessagePort } from 'node:worker_threads';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { QuotaFigure } from '../../cloud/instanceType.ts';
import type { InstanceTypeData } from '../../cloud/instanceTypeData.ts';
import type { KubeStatus } from '../../kube/errors.ts';
import type { ObjectRef } from '../../kube/kube.ts';
import type { Answer, NodeScreen, WhatIfAnswer } from '../screens.ts';

/** Why a node exists, with its plan and what would be bought today. */
export type NodeAnswer = Required<
  Pick<NodeScreen, 'explanation' | 'boughtForPods' | 'replaces' | 'offerings' | 'today'>
>;

export type Question =
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'node'; readonly claim: string }
  | { readonly kind: 'what-if'; readonly manifest: string };

/** Undefined: the object does not exist. */
export interface AnswerTo {
  readonly pod: Answer | undefined;
  readonly node: NodeAnswer | undefined;
  readonly 'what-if': WhatIfAnswer;
}

/** Requests of the thread to the controller. */
export type Ask =
  | { readonly kind: 'get'; readonly resource: ResourceKind<KubeObject>; readonly ref: ObjectRef }
  /** Answered with the number of a list that was sent. */
  | { readonly kind: 'types'; readonly pool: NodePool; readonly nodeClass: KubeObject };

/** A failure includes the API server's status, because callers handle its kinds differently. */
export interface Failure {
  readonly message: string;
  readonly status?: KubeStatus;
}

/** A cluster whose objects were sent before: their numbers by kind, in order. */
export interface SentCluster {
  readonly time: number;
  /** Lists of instance types still in use; the others are dropped. */
  readonly lists: readonly number[];
  readonly kinds: readonly (readonly [string, Uint32Array])[];
  readonly cloud: Pick<CloudProvider, 'name' | 'nodeClasses'> & { readonly hasQuotas: boolean };
}

export type ToThread =
  /** Numbered from `first` on. */
  | { readonly type: 'objects'; readonly first: number; readonly objects: readonly KubeObject[] }
  | { readonly type: 'cluster'; readonly cluster: SentCluster }
  /** A part of a list. */
  | { readonly type: 'types'; readonly list: number; readonly types: readonly InstanceTypeData[] }
  | { readonly type: 'question'; readonly number: number; readonly question: Question }
  | { readonly type: 'told'; readonly number: number; readonly value?: unknown; readonly failure?: Failure };

export type FromThread =
  | { readonly type: 'answer'; readonly number: number; readonly value?: unknown; readonly failure?: Failure }
  | { readonly type: 'ask'; readonly number: number; readonly ask: Ask };

/**
 * Quotas are requested in the middle of a computation, so the thread blocks: it waits for `told` to become 1, and then
 * reads the port.
 */
export interface QuotaLine {
  readonly port: MessagePort;
  readonly told: Int32Array;
}

export type QuotaAsk = readonly NodeClaim[];
export type QuotaAnswer = ReadonlyMap<string, QuotaFigure>;
