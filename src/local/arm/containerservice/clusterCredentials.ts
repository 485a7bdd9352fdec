/** Kubeconfigs of clusters, for `az aks get-credentials`. */
import type { KubeconfigNames } from '../../apiserver/kubeconfig.ts';
import type { ArmContext } from '../armContext.ts';
import { at } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { ok, type ArmResponse, type Route } from '../server/router.ts';
import { aksRefusal } from './aksRefusal.ts';
import type { ClusterName } from './managedCluster.ts';
import { CLUSTER_PATH, MANAGED_CLUSTERS } from './managedClusters.ts';

/** Returns the kubeconfig of a cluster under these names; undefined while its API server does not listen. */
export type KubeconfigOf = (cluster: ClusterName, names: KubeconfigNames) => string | undefined;

export function clusterCredentialRoutes(context: ArmContext, kubeconfigOf: KubeconfigOf): readonly Route[] {
  const route = (action: string, role: 'clusterAdmin' | 'clusterUser'): Route => ({
    name: `managedClusters.${action}`,
    method: 'POST',
    path: `${CLUSTER_PATH}/${action}`,
    handle: ({ parameters: { group = '', name = '' } }) =>
      kubeconfigsOf(context.store.get(group, MANAGED_CLUSTERS, name), group, role, kubeconfigOf),
  });
  return [route('listClusterAdminCredential', 'clusterAdmin'), route('listClusterUserCredential', 'clusterUser')];
}

function kubeconfigsOf(
  { name, properties }: ArmResource,
  group: string,
  role: 'clusterAdmin' | 'clusterUser',
  kubeconfigOf: KubeconfigOf,
): ArmResponse {
  if (role === 'clusterAdmin' && at(properties, 'disableLocalAccounts') === true) {
    throw aksRefusal('BadRequest.localAccounts');
  }
  // `az` adds `-admin` to the context of an admin.
  const names = { cluster: name, user: `${role}_${group}_${name}`, context: name };
  const text = kubeconfigOf({ resourceGroup: group, name }, names);
  if (text === undefined) throw aksRefusal('OperationNotAllowed.apiServer', { name });
  return ok({ kubeconfigs: [{ name: role, value: Buffer.from(text).toString('base64') }] });
}
