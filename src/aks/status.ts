/** Whether and how nodewright runs in a cluster, and its progress. */
import { Kinds } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import { poolsOf } from './closedPools.ts';
import type { AksContext } from './enable.ts';
import { RELEASE } from './installSteps.ts';
import { readCluster } from './managedCluster.ts';

export interface AksStatus {
  readonly cluster: string;
  readonly kubernetesVersion: string;
  /** `managed`: run by AKS. `karpenter`: another Karpenter runs in the cluster. */
  readonly mode: 'managed' | 'self-hosted' | 'karpenter' | 'off';
  readonly image?: string;
  readonly isReady: boolean;
  readonly pools: readonly { readonly name: string; readonly nodes: number; readonly isReady: boolean }[];
  /** Number of nodes it has bought. */
  readonly nodes: number;
}

export async function aksStatus(context: AksContext): Promise<AksStatus> {
  const { arm, kube, name } = context;
  const { properties } = await readCluster(arm, name);
  const deployment = (each: string) =>
    ignoreNotFound(kube.get(Kinds.Deployment, { name: each, namespace: RELEASE.Namespace }));
  const [own, karpenter] = await Promise.all([deployment(RELEASE.Name), deployment('karpenter')]);
  const running = own ?? karpenter;
  const isManaged = properties.nodeProvisioningProfile?.mode === 'Auto';
  const image = running?.spec?.template.spec?.containers[0]?.image;
  const { items: nodes } = await kube.list(Kinds.Node, { labelSelector: Labels.nodePool });
  const pools = await poolsOf(kube);
  return {
    cluster: name.name,
    kubernetesVersion: properties.currentKubernetesVersion ?? '',
    mode: isManaged ? 'managed' : own !== undefined ? 'self-hosted' : karpenter !== undefined ? 'karpenter' : 'off',
    ...(image !== undefined && !isManaged && { image }),
    isReady: isManaged || (running?.status?.availableReplicas ?? 0) > 0,
    pools: pools.map(({ metadata, status }) => ({
      name: metadata.name,
      nodes: status?.nodes ?? 0,
      isReady: status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false,
    })),
    nodes: nodes.length,
  };
}
