/** nodewright's identity in Azure as steps: the identity, its federated credentials, and its role assignments. */
import { createHash } from 'node:crypto';
import { ApiVersions, type ArmPort } from './armPort.ts';
import { clusterId, groupId, readCluster, type ClusterName } from './managedCluster.ts';
import type { Step } from './step.ts';

export const NAME = 'nodewright';
const NAMESPACE = 'kube-system';
const AUDIENCE = 'api://AzureADTokenExchange';

export interface RightsOptions {
  readonly arm: ArmPort;
  readonly cluster: ClusterName;
  readonly location: string;
  readonly nodeResourceGroup: string;
  /** Scopes in addition to the node resource group: subnets, or resource groups of custom virtual networks. */
  readonly networkScopes: readonly string[];
  /** The actions of charts/nodewright/azure-role.json. */
  readonly actions: readonly string[];
}

interface Identity {
  readonly properties: { readonly principalId: string; readonly clientId: string };
}

interface RoleDefinition {
  readonly id: string;
  readonly properties: { readonly permissions?: readonly { readonly actions?: readonly string[] }[] };
}

/** Actions on the whole subscription; all others concern the nodes' resource group. */
const OF_SUBSCRIPTION = /^Microsoft\.(Compute\/(skus|locations)|ResourceGraph)\//;

export function identityId({ subscriptionId, resourceGroup }: ClusterName): string {
  return `${groupId(subscriptionId, resourceGroup)}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${NAME}`;
}

export async function readIdentity(arm: ArmPort, cluster: ClusterName): Promise<Identity['properties'] | undefined> {
  return (await arm.get<Identity>(identityId(cluster), ApiVersions.identity))?.properties;
}

export function rightsSteps(options: RightsOptions): readonly Step[] {
  const { cluster, nodeResourceGroup, actions, networkScopes } = options;
  const subscription = `/subscriptions/${cluster.subscriptionId}`;
  const nodes = groupId(cluster.subscriptionId, nodeResourceGroup);
  const general = { name: `${NAME}-catalogue`, actions: actions.filter((action) => OF_SUBSCRIPTION.test(action)) };
  const own = { name: NAME, actions: actions.filter((action) => !OF_SUBSCRIPTION.test(action)) };
  return [
    issuerStep(options),
    identityStep(options),
    federationStep(options),
    roleStep(options, own),
    roleStep(options, general),
    assignmentStep(options, own.name, nodes),
    ...networkScopes.map((scope) => assignmentStep(options, own.name, scope)),
    assignmentStep(options, general.name, subscription),
  ];
}

/** Not undone: others may use it by then. */
function issuerStep({ arm, cluster }: RightsOptions): Step {
  return {
    name: 'workload-identity',
    what: 'turn on the OIDC issuer and workload identity of the cluster',
    isDone: async () => {
      const { properties } = await readCluster(arm, cluster);
      return (
        properties.oidcIssuerProfile?.enabled === true && properties.securityProfile?.workloadIdentity?.enabled === true
      );
    },
    run: async () => {
      const current = await readCluster(arm, cluster);
      const { securityProfile } = current.properties;
      await arm.put(clusterId(cluster), ApiVersions.cluster, {
        ...current,
        properties: {
          ...current.properties,
          oidcIssuerProfile: { ...current.properties.oidcIssuerProfile, enabled: true },
          securityProfile: { ...securityProfile, workloadIdentity: { enabled: true } },
        },
      });
    },
  };
}

function identityStep({ arm, cluster, location }: RightsOptions): Step {
  const id = identityId(cluster);
  return {
    name: 'identity',
    what: `create the identity ${NAME} in ${cluster.resourceGroup}`,
    isDone: async () => (await arm.get(id, ApiVersions.identity)) !== undefined,
    run: () => arm.put(id, ApiVersions.identity, { location, tags: { [`${NAME}.dev_cluster`]: cluster.name } }),
    undo: () => arm.remove(id, ApiVersions.identity),
  };
}

export function federationId(cluster: ClusterName): string {
  return `${identityId(cluster)}/federatedIdentityCredentials/${cluster.name}`;
}

/** Whether another cluster of the resource group uses the same identity. */
export async function isShared(arm: ArmPort, cluster: ClusterName): Promise<boolean> {
  const path = `${identityId(cluster)}/federatedIdentityCredentials`;
  const credentials = await arm.list<{ readonly name: string }>(path, ApiVersions.identity);
  return credentials.some(({ name }) => name.toLowerCase() !== cluster.name.toLowerCase());
}

function federationStep({ arm, cluster }: RightsOptions): Step {
  const id = federationId(cluster);
  const subject = `system:serviceaccount:${NAMESPACE}:${NAME}`;
  const issuer = async (): Promise<string> =>
    (await readCluster(arm, cluster)).properties.oidcIssuerProfile?.issuerURL ?? '';
  return {
    name: 'federated-credential',
    what: `let the service account ${NAMESPACE}/${NAME} of the cluster be that identity`,
    isDone: async () => {
      const found = await arm.get<{ readonly properties: { readonly issuer?: string; readonly subject?: string } }>(
        id,
        ApiVersions.identity,
      );
      return found?.properties.subject === subject && found.properties.issuer === (await issuer());
    },
    run: async () =>
      arm.put(id, ApiVersions.identity, { properties: { issuer: await issuer(), subject, audiences: [AUDIENCE] } }),
    undo: () => arm.remove(id, ApiVersions.identity),
  };
}

interface Role {
  readonly name: string;
  readonly actions: readonly string[];
}

function roleStep({ arm, cluster }: RightsOptions, role: Role): Step {
  const scope = `/subscriptions/${cluster.subscriptionId}`;
  const find = (): Promise<RoleDefinition | undefined> => findRole(arm, cluster, role.name);
  return {
    name: `role ${role.name}`,
    what: `define the role ${role.name} with ${role.actions.length} actions`,
    isDone: async () => {
      const defined = (await find())?.properties.permissions?.flatMap(({ actions = [] }) => actions) ?? [];
      return role.actions.every((action) => defined.includes(action));
    },
    run: async () => {
      const id =
        (await find())?.id ?? `${scope}/providers/Microsoft.Authorization/roleDefinitions/${guid(scope, role.name)}`;
      await arm.put(id, ApiVersions.authorization, {
        properties: {
          roleName: role.name,
          description: 'What nodewright does in the node resource group of an AKS cluster, and what it must know.',
          type: 'CustomRole',
          assignableScopes: [scope],
          permissions: [{ actions: role.actions, notActions: [] }],
        },
      });
    },
    // Kept: other clusters of the subscription may use it.
  };
}

async function findRole(
  arm: ArmPort,
  { subscriptionId }: ClusterName,
  name: string,
): Promise<RoleDefinition | undefined> {
  const path = `/subscriptions/${subscriptionId}/providers/Microsoft.Authorization/roleDefinitions?$filter=${encodeURIComponent(`roleName eq '${name}'`)}`;
  const [found] = await arm.list<RoleDefinition>(path, ApiVersions.authorization);
  return found;
}

interface Assignment {
  readonly id: string;
  readonly properties: { readonly principalId?: string; readonly roleDefinitionId?: string; readonly scope?: string };
}

/** All role assignments of the identity, in any scope. */
export async function assignmentsOf(
  arm: ArmPort,
  { subscriptionId }: ClusterName,
  principalId: string,
): Promise<readonly Assignment[]> {
  const filter = encodeURIComponent(`principalId eq '${principalId}'`);
  const path = `/subscriptions/${subscriptionId}/providers/Microsoft.Authorization/roleAssignments?$filter=${filter}`;
  return arm.list(path, ApiVersions.authorization);
}

function assignmentStep({ arm, cluster }: RightsOptions, role: string, scope: string): Step {
  const idOf = (principalId: string): string =>
    `${scope}/providers/Microsoft.Authorization/roleAssignments/${guid(scope, role, principalId)}`;
  return {
    name: `assignment ${role} ${scope.split('/').at(-1) ?? ''}`,
    what: `assign the role ${role} at ${scope}`,
    isDone: async () => {
      const identity = await readIdentity(arm, cluster);
      const definition = await findRole(arm, cluster, role);
      if (identity === undefined || definition === undefined) return false;
      const assigned = await assignmentsOf(arm, cluster, identity.principalId);
      return assigned.some(
        ({ properties }) =>
          properties.scope?.toLowerCase() === scope.toLowerCase() &&
          properties.roleDefinitionId?.toLowerCase() === definition.id.toLowerCase(),
      );
    },
    run: async () => {
      const principalId = (await readIdentity(arm, cluster))?.principalId ?? '';
      const roleDefinitionId = (await findRole(arm, cluster, role))?.id ?? '';
      const properties = { roleDefinitionId, principalId, principalType: 'ServicePrincipal' };
      await arm.put(idOf(principalId), ApiVersions.authorization, { properties });
    },
    undo: async () => {
      const identity = await readIdentity(arm, cluster);
      if (identity !== undefined) await arm.remove(idOf(identity.principalId), ApiVersions.authorization);
    },
  };
}

/** The same id for the same words, so that a retry finds the earlier resource. */
function guid(...words: readonly string[]): string {
  const hex = createHash('sha256').update(words.join(' ').toLowerCase()).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
