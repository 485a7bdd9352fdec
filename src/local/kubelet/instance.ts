import type { Node } from '../../api/kinds.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

/** An instance that boots: what its kubelet registers when it joins. */
export interface BootedInstance {
  readonly name: string;
  readonly providerID: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly kubeletVersion: string;
  readonly osImage: string;
  /** What its kubelet introduces itself with. */
  readonly bootstrapToken?: string;
  /** Its own in the node network; one that its name decides when absent. */
  readonly address?: string;
}

/** How long the steps of an instance and its pods take, in milliseconds. */
export interface InstancePace {
  /** From power-on until the kubelet registers the Node. */
  readonly boot: number;
  /** From registration until the Node is Ready. */
  readonly ready: number;
  /** From binding until a pod's containers run. */
  readonly podStart: number;
  /** From a pod's deletion until its containers have ended, unless its grace period is shorter. */
  readonly podStop: number;
}
