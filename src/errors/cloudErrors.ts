import { entry } from './errorEntry.ts';

const OTHERS_ARE_TRIED = 'nothing; other offerings are tried. If pods wait, allow more instance types or zones';

/** By the reason of the `Launched` condition. */
const LAUNCH_REMEDIES: Readonly<Record<string, string>> = {
  SubscriptionQuotaReached:
    'raise the quota of this family in the region (`az vm list-usage -l <region>`), or allow other families in the NodePool',
  SKUNotAvailable: 'nothing; other offerings are tried. If pods wait, allow sizes that the subscription may use',
  ZonalAllocationFailure: OTHERS_ARE_TRIED,
  AllocationFailure: OTHERS_ARE_TRIED,
  OverconstrainedZonalAllocationFailure: OTHERS_ARE_TRIED,
  OverconstrainedAllocationFailure: OTHERS_ARE_TRIED,
};

/** Errors of a cloud provider. They become conditions and events of NodeClaims, or end the start. */
export const cloudErrors = {
  InstanceNotFound: entry<{ readonly instance: string }>({
    exit: 'failure',
    about: 'The instance of a NodeClaim does not exist (any more). The NodeClaim can be removed.',
    where: ({ instance }) => instance,
    what: () => 'this instance does not exist',
    remedy: () => 'nothing; the NodeClaim is removed and its pods are placed again',
    example: { instance: 'aks-default-abc12' },
  }),
  InsufficientCapacity: entry<{ readonly detail: string }>({
    exit: 'failure',
    about:
      'Nothing that the NodeClaim allows can be bought now. The NodeClaim is deleted and its pods are planned again.',
    what: ({ detail }) => detail,
    remedy: () => 'allow more instance types, zones or capacity types in the NodePool, or raise the quota',
    example: { detail: 'no instance type that default-abc12 allows can be bought now' },
  }),
  NodeClassNotReady: entry<{ readonly nodeClass: string; readonly problem: string }>({
    exit: 'failure',
    about: 'The node class of a NodeClaim is missing, being deleted or not ready. The NodeClaim is deleted.',
    where: ({ nodeClass }) => nodeClass,
    what: ({ problem }) => problem,
    remedy: ({ nodeClass }) =>
      `see its conditions with \`kubectl describe ${nodeClass.toLowerCase().replace(' ', '/')}\`, and correct its spec or the nodeClassRef of the NodePool`,
    example: { nodeClass: 'AKSNodeClass default', problem: 'does not exist or is being deleted' },
  }),
  LaunchFailed: entry<{ readonly reason: string; readonly detail: string }>({
    exit: 'failure',
    about:
      'The cloud refused to create an instance. The launch is tried again; the reason is in the Launched condition.',
    what: ({ detail }) => detail,
    remedy: ({ reason }) =>
      LAUNCH_REMEDIES[reason] ??
      'correct the named problem; the launch is tried again, and the Launched condition has the result',
    example: { reason: 'SubscriptionQuotaReached', detail: 'Family Cores quota exceeded' },
  }),
  UnknownAzureCloud: entry<{ readonly name: string; readonly known: readonly string[] }>({
    exit: 'usage',
    about: 'ARM_CLOUD names an unknown Azure cloud.',
    where: () => 'ARM_CLOUD',
    what: ({ name }) => `"${name}" is not a known Azure cloud`,
    remedy: ({ known }) => `use one of ${known.join(', ')}, or describe the cloud in AZURE_ENVIRONMENT_FILEPATH`,
    example: { name: 'AzureGermanCloud', known: ['AzurePublicCloud'] },
  }),
  AzureRefusesCredentials: entry<{ readonly problem: string }>({
    exit: 'failure',
    about: 'No credential in the environment gives a token for Azure, or Azure refuses the token.',
    where: () => 'Azure',
    what: ({ problem }) => `no usable credential: ${problem}`,
    remedy: () =>
      'sign in with `az login`, or set AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_FEDERATED_TOKEN_FILE or AZURE_CLIENT_SECRET',
    example: { problem: 'AADSTS7000215: Invalid client secret provided' },
  }),
  AzureAnswerUnusable: entry<{ readonly source: string; readonly problem: string }>({
    exit: 'failure',
    about: 'Azure answered a request with something that cannot be used. The previous data stays in use.',
    where: ({ source }) => source,
    what: ({ problem }) => problem,
    remedy: () => 'nothing at first: the request is repeated; if it persists, check the region and the subscription',
    example: { source: 'the price list', problem: 'it has no VM sizes for eastus' },
  }),
  AksMachineUnreachable: entry<{ readonly vm: string }>({
    exit: 'failure',
    about: 'A VM belongs to an AKS machine, which only AKS may remove, and it is not known where that machine is.',
    where: ({ vm }) => `VM ${vm}`,
    what: () => 'it belongs to an AKS machine and is removed through AKS only',
    remedy: () => 'set ARM_RESOURCE_GROUP to the resource group of the cluster, and AKS_MACHINES_POOL_NAME',
    example: { vm: 'aks-aksmanagedap-default-x7k2p-12345678-vm' },
  }),
  MaintenanceWindowUnknown: entry<Record<never, never>>({
    exit: 'failure',
    about:
      'The ConfigMap with the maintenance window for node images cannot be read. Images stay as they are until it can.',
    what: () => 'whether there is a maintenance window for node images is not known',
    remedy: () =>
      'see the log for why ConfigMaps cannot be watched; the Role of the chart allows upcoming-maintenance-window in the namespace of the release',
    example: {},
  }),
  MaintenanceWindowUnreadable: entry<{ readonly configMap: string; readonly key: string; readonly text: string }>({
    exit: 'failure',
    about: 'The maintenance window for node images cannot be read. Images stay as they are until it can.',
    where: ({ configMap, key }) => `ConfigMap ${configMap}, ${key}`,
    what: ({ text }) => (text === '' ? 'it is missing although the other end is set' : `"${text}" is not a time`),
    remedy: () => 'set both ends as RFC 3339 times such as 2026-11-16T02:00:00Z, or delete the ConfigMap',
    example: {
      configMap: 'kube-system/upcoming-maintenance-window',
      key: 'aksManagedNodeOSUpgradeSchedule-end',
      text: 'tomorrow',
    },
  }),
  AzureOperationTimeout: entry<{ readonly resource: string; readonly minutes: number }>({
    exit: 'failure',
    about: 'A long-running operation of Azure did not end in time. It is tried again.',
    where: ({ resource }) => resource,
    what: ({ minutes }) => `Azure has not ended the operation on it in ${minutes} minutes`,
    remedy: () => 'see the activity log of the node resource group for the cause',
    example: { resource: 'VM aks-default-abc12', minutes: 30 },
  }),
  AzureInstanceBroken: entry<{ readonly instance: string; readonly state: string; readonly minutes?: number }>({
    exit: 'failure',
    about: 'A VM whose creation an earlier process started did not start.',
    where: ({ instance }) => `VM ${instance}`,
    what: ({ state, minutes }) =>
      minutes === undefined ? `it is in state ${state}` : `it is still in state ${state} after ${minutes} minutes`,
    remedy: () => 'nothing; the NodeClaim is deleted with its VM, and its pods are placed again',
    example: { instance: 'aks-default-abc12', state: 'Failed' },
  }),
  SecurityGroupUnclear: entry<{ readonly resourceGroup: string; readonly found: number }>({
    exit: 'failure',
    about: "AKS's own network security group, which new nodes join, cannot be told from others or is missing.",
    where: ({ resourceGroup }) => `resource group ${resourceGroup}`,
    what: ({ found }) => `it has ${found} network security groups named aks-agentpool-<8 digits>-nsg instead of one`,
    remedy: () => 'check that AZURE_NODE_RESOURCE_GROUP names the node resource group of this cluster',
    example: { resourceGroup: 'MC_shop_prod_eastus', found: 0 },
  }),
};
