/** What a new local cluster starts with: CRDs, AKS's defaults, a system pool with its pods, and the scenario. */
import { renderCrds } from '../../api/crds.ts';
import { Kinds, type Node } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Kube } from '../../kube/kube.ts';
import { kubeSystemBase, kubeSystemDeployments } from '../../local/aks/kubeSystem.ts';
import type { LocalWorld } from '../../local/localWorld.ts';
import { installManifests, manifest } from '../../local/scenarios/manifests.ts';
import { scenarios, type ScenarioName } from '../../local/scenarios/scenarios.ts';
import { defaultNodeClass, defaultPools } from '../../nap/defaultPools.ts';

const SYSTEM_POOL = 'nodepool1';
/** Milliseconds of the world between two looks at the system pool. */
const LOOK_AGAIN = 1_000;

/** A world that goes on gets the definitions of this version. */
export async function installDefinitions(kube: Kube): Promise<void> {
  for (const crd of renderCrds()) {
    const body = { ...crd, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
    const options = { fieldManager: 'nodewright', force: true };
    await kube.patch(Kinds.CustomResourceDefinition, { name: crd.metadata.name }, { type: 'apply', body }, options);
  }
}

/** Before the world runs. Repeatable: the process may have died half-way. */
export async function furnish({ kube, arm }: LocalWorld, scenario: ScenarioName): Promise<void> {
  arm.addAgentPool(SYSTEM_POOL, {
    mode: 'System',
    count: 2,
    vmSize: 'Standard_D4s_v5',
    availabilityZones: ['1', '2', '3'],
    nodeTaints: ['CriticalAddonsOnly=true:NoSchedule'],
  });
  const defaults = [
    manifest(Kinds.AKSNodeClass, defaultNodeClass),
    ...defaultPools.map((pool) => manifest(Kinds.NodePool, pool)),
  ];
  await installManifests(kube, [...defaults, ...kubeSystemBase, ...scenarios[scenario].manifests]);
}

/** While the world runs: the Deployments of kube-system, once there is a node for them. */
export async function furnishSystemPods(kube: Kube, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!(await kube.list(Kinds.Node, { signal })).items.some(isSystemNode)) await clock.sleep(LOOK_AGAIN, signal);
  await installManifests(kube, kubeSystemDeployments);
}

function isSystemNode({ metadata, status }: Node): boolean {
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  return isReady === true && metadata.labels?.['kubernetes.azure.com/mode'] === 'system';
}
