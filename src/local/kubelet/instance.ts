import type { Node } from '../../api/kinds.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

/** A booting instance, with the data of the Node that its kubelet registers. */
export interface BootedInstance {
  readonly name: string;
  readonly providerID: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly kubeletVersion: string;
  readonly osImage: string;
  /** The bootstrap token with which its kubelet registers. */
  readonly bootstrapToken?: string;
  /** Its address in the node network; derived from its name by default. */
  readonly address?: string;
}

/** Durations of the steps of an instance and its pods, in milliseconds. */
export interface InstancePace {
  /** From power-on until the registration of the Node. */
  readonly boot: number;
  /** From registration until the Node is Ready. */
  readonly ready: number;
  /** From binding until a pod's containers run. */
  readonly podStart: number;
  /** From a pod's deletion until its containers have ended, unless its grace period is shorter. */
  readonly podStop: number;
}
