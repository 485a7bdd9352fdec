/** The problem of NodeClassNotReady when the node class does not exist. */
export const NODE_CLASS_MISSING = 'does not exist or is being deleted';

/**
 * Problems that stop a launch before the cloud is asked, or although the cloud did not refuse: the detail of
 * LaunchFailed and InsufficientCapacity.
 */
interface LaunchProblems {
  readonly NothingToBuy: {
    readonly claim: string;
    readonly offered: number;
    /** Number of offerings removed by each stage of the choice. */
    readonly removed: Readonly<Record<string, number>>;
  };
  readonly NoTypeNamed: { readonly claim: string };
  readonly ForeignMachine: { readonly machine: string; readonly owner: string | undefined };
  readonly EarlierAttempt: { readonly machine: string; readonly state: string };
  readonly NotASharedImage: { readonly image: string };
  readonly NameTooLong: { readonly claim: string };
  readonly NoLongerSold: { readonly instanceType: string };
  readonly NoImage: { readonly nodeClass: string; readonly instanceType: string };
  readonly StaleNodeClass: { readonly nodeClass: string };
  readonly NotASubnet: { readonly subnet: string };
  readonly NoScripts: { readonly problem: string };
  readonly NoBootstrapToken: { readonly namespace: string; readonly type: string; readonly minutes: number };
}

const DETAILS: { readonly [Code in keyof LaunchProblems]: (data: LaunchProblems[Code]) => string } = {
  NothingToBuy: ({ claim, offered, removed }) => {
    const stages = Object.entries(removed).map(([name, count]) => `${name} excluded ${count}`);
    return `no instance types available for ${claim}: of ${offered} offerings, ${stages.join(', ')}`;
  },
  NoTypeNamed: ({ claim }) => `${claim} names no instance type`,
  ForeignMachine: ({ machine, owner }) =>
    `AKS machine ${machine} exists already and belongs to NodeClaim ${owner ?? '(none)'}.`,
  EarlierAttempt: ({ machine, state }) =>
    `Machine ${machine} of an earlier attempt is in state ${state}; it is removed before the next one.`,
  NotASharedImage: ({ image }) => `AKS machines need images of the shared galleries (--use-sig); ${image} is not one.`,
  NameTooLong: ({ claim }) => `${claim} is too long for the name of an AKS machine.`,
  NoLongerSold: ({ instanceType }) => `${instanceType} is no longer sold.`,
  NoImage: ({ nodeClass, instanceType }) => `No image of ${nodeClass} boots ${instanceType}.`,
  StaleNodeClass: ({ nodeClass }) => `The status of AKSNodeClass ${nodeClass} does not describe its present spec yet.`,
  NotASubnet: ({ subnet }) => `${subnet} is not the id of a subnet.`,
  NoScripts: ({ problem }) => `The node bootstrapping server was asked for scripts; ${problem}.`,
  NoBootstrapToken: ({ namespace, type, minutes }) =>
    `${namespace} has no Secret of type ${type} that is valid for another ${minutes} minutes; make one, or set --kubelet-bootstrap-token.`,
};

export function launchDetail<Code extends keyof LaunchProblems>(code: Code, data: LaunchProblems[Code]): string {
  return DETAILS[code](data);
}
