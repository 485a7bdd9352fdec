/** Initial content of a new local cluster: a system pool with its pods and, in the first cluster, the scenario. */
import { Kinds, type Node } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Kube } from '../../kube/kube.ts';
import { kubeSystemBase, kubeSystemDeployments, type ClusterDataplane } from '../../local/aks/kubeSystem.ts';
import type { LocalWorld } from '../../local/localWorld.ts';
import { installManifests } from '../../local/scenarios/manifests.ts';
import { scenarios, type ScenarioName } from '../../local/scenarios/scenarios.ts';

const SYSTEM_POOL = 'nodepool1';
/** The first cluster's. */
const DATAPLANE: ClusterDataplane = { networkDataplane: 'cilium' };
/** Simulated milliseconds between checks of the system pool. */
const LOOK_AGAIN = 1_000;

/** Before the world runs. Repeatable: the process may have died in between. */
export async function furnish({ kube, arm }: LocalWorld, scenario: ScenarioName): Promise<void> {
  arm.addAgentPool(SYSTEM_POOL, {
    mode: 'System',
    count: 2,
    vmSize: 'Standard_D4s_v5',
    availabilityZones: ['1', '2', '3'],
    nodeTaints: ['CriticalAddonsOnly=true:NoSchedule'],
  });
  await installManifests(kube, [...kubeSystemBase(DATAPLANE), ...scenarios[scenario].manifests]);
}

interface FurnishedCluster {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly dataplane: ClusterDataplane;
  /** Whether an agent pool has, or will have, nodes for the pods of kube-system. */
  readonly hasSystemPool: () => boolean;
}

/** For a cluster created by a client: its pools are in the client's request. */
export async function furnishCluster(cluster: FurnishedCluster, signal: AbortSignal): Promise<void> {
  await installManifests(cluster.kube, kubeSystemBase(cluster.dataplane));
  await furnishSystemPods(cluster, signal);
}

/** While the world runs: the Deployments in kube-system of the first cluster. */
export function furnishFirstCluster(kube: Kube, clock: Clock, signal: AbortSignal): Promise<void> {
  return furnishSystemPods({ kube, clock, dataplane: DATAPLANE, hasSystemPool: () => true }, signal);
}

/**
 * When there is a node for them; without a system pool at once, because the NodePool `system-surge` gets nodes for
 * them.
 */
async function furnishSystemPods(
  { kube, clock, dataplane, hasSystemPool }: FurnishedCluster,
  signal: AbortSignal,
): Promise<void> {
  const hasNode = async (): Promise<boolean> => (await kube.list(Kinds.Node, { signal })).items.some(isSystemNode);
  while (hasSystemPool() && !(await hasNode())) await clock.sleep(LOOK_AGAIN, signal);
  await installManifests(kube, kubeSystemDeployments(dataplane));
}

function isSystemNode({ metadata, status }: Node): boolean {
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  return isReady === true && metadata.labels?.['kubernetes.azure.com/mode'] === 'system';
}
