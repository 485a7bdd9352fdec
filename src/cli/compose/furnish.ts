/** What a new local cluster starts with: a system pool with its pods, and for the first one the scenario. */
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
/** Milliseconds of the world between two looks at the system pool. */
const LOOK_AGAIN = 1_000;

/** Before the world runs. Repeatable: the process may have died half-way. */
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

/** A cluster that a client made: its pools are in the client's request. */
export async function furnishCluster(
  kube: Kube,
  dataplane: ClusterDataplane,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  await installManifests(kube, kubeSystemBase(dataplane));
  await furnishSystemPods(kube, clock, signal, dataplane);
}

/** While the world runs: the Deployments of kube-system, once there is a node for them. */
export async function furnishSystemPods(
  kube: Kube,
  clock: Clock,
  signal: AbortSignal,
  dataplane = DATAPLANE,
): Promise<void> {
  while (!(await kube.list(Kinds.Node, { signal })).items.some(isSystemNode)) await clock.sleep(LOOK_AGAIN, signal);
  await installManifests(kube, kubeSystemDeployments(dataplane));
}

function isSystemNode({ metadata, status }: Node): boolean {
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  return isReady === true && metadata.labels?.['kubernetes.azure.com/mode'] === 'system';
}
