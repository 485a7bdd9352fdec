/** Switches between ways to run Karpenter, in place: nodes, claims and pools are kept. As steps. */
import { renderCrds } from '../api/crds.ts';
import { Kinds, type Deployment } from '../api/kinds.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import type { Kube, ObjectRef } from '../kube/kube.ts';
import { managedSteps, type AksContext } from './enable.ts';
import { chartStep, definitionsStep, readyStep, RELEASE } from './installSteps.ts';
import { readCluster } from './managedCluster.ts';
import type { Manifest } from './renderChart.ts';
import type { Step } from './step.ts';

const HELM_LABEL = 'app.kubernetes.io/managed-by';
const HELM_ANNOTATIONS = ['meta.helm.sh/release-name', 'meta.helm.sh/release-namespace'] as const;
/** On a CRD without an owner: its former Helm owner, so that a failure in any run can restore it. */
const OWNER = 'nodewright.dev/helm-owner-before';

interface Ownership {
  readonly label: string | null;
  readonly annotations: Readonly<Record<string, string>>;
}

/** On a stopped Deployment: its former number of replicas. */
const REPLICAS = 'nodewright.dev/replicas-before';

/** Names of the Deployments of Karpenter and nodewright. */
const NAMES = ['karpenter', RELEASE.Name] as const;

const findDeployment = (kube: Kube, name: string): Promise<Deployment | undefined> =>
  ignoreNotFound(kube.get(Kinds.Deployment, { name, namespace: RELEASE.Namespace }));

const refOf = ({ metadata: { name, namespace } }: Deployment): ObjectRef => ({ name, namespace });

/** Also for one stopped by an earlier run. */
function replicasBefore({ metadata, spec }: Deployment): number {
  const before = metadata.annotations?.[REPLICAS];
  return before === undefined ? (spec?.replicas ?? 1) : Number(before);
}

/** Two controllers would both buy nodes for the same pods. */
function stopStep(kube: Kube, deployment: Deployment): Step {
  const ref = refOf(deployment);
  const current = () => ignoreNotFound(kube.get(Kinds.Deployment, ref));
  return {
    name: 'stop',
    what: `scale the Deployment ${ref.namespace}/${ref.name} to 0; nodes and pods stay`,
    isDone: async () => ((await current())?.spec?.replicas ?? 0) === 0,
    run: async () => {
      const replicas = (await current())?.spec?.replicas ?? 1;
      const body = { metadata: { annotations: { [REPLICAS]: String(replicas) } }, spec: { replicas: 0 } };
      await kube.patch(Kinds.Deployment, ref, { type: 'merge', body });
    },
    wasBegun: async () => (await current())?.metadata.annotations?.[REPLICAS] !== undefined,
    undo: async () => {
      const deployment = await current();
      if (deployment === undefined) return;
      const replicas = replicasBefore(deployment);
      const body = { metadata: { annotations: { [REPLICAS]: null } }, spec: { replicas } };
      await ignoreNotFound(kube.patch(Kinds.Deployment, ref, { type: 'merge', body }));
    },
  };
}

/** The same step without undo. */
function forGood(step: Step): Step {
  return { name: step.name, what: step.what, isDone: () => step.isDone(), run: () => step.run() };
}

/** Undone only until AKS provisions: after that, two controllers would buy nodes for the same pods. */
function untilManaged(step: Step, { arm, name }: AksContext): Step {
  return {
    ...step,
    undo: async () => {
      const { properties } = await readCluster(arm, name);
      if (properties.nodeProvisioningProfile?.mode === 'Auto') throw new NodewrightError('AlreadyManaged', {});
      await step.undo?.();
    },
  };
}

/** `helm uninstall` deletes what it owns: CRDs without the ownership survive, and with them claims and nodes. */
function disownStep(kube: Kube): Step {
  const names = renderCrds().map(({ metadata }) => metadata.name);
  const having = async (annotation: string) => {
    const found = await Promise.all(
      names.map((name) => ignoreNotFound(kube.get(Kinds.CustomResourceDefinition, { name }))),
    );
    return found.flatMap((crd) => (crd?.metadata.annotations?.[annotation] === undefined ? [] : [crd]));
  };
  const owned = () => having(HELM_ANNOTATIONS[0]);
  const disowned = () => having(OWNER);
  const write = async (name: string, label: string | null, annotations: object): Promise<void> => {
    const body = { metadata: { labels: { [HELM_LABEL]: label }, annotations } };
    await kube.patch(Kinds.CustomResourceDefinition, { name }, { type: 'merge', body });
  };
  return {
    name: 'disown',
    what: "take Helm's ownership off the definitions, so that they and all nodes survive its removal",
    // Those installed by AKS have its own release and are correct.
    isDone: async () =>
      (await owned()).every(
        ({ metadata }) => metadata.annotations?.[HELM_ANNOTATIONS[0]]?.startsWith('aks-managed') === true,
      ),
    run: async () => {
      for (const { metadata } of await owned()) {
        const annotations = Object.fromEntries(
          HELM_ANNOTATIONS.map((name) => [name, metadata.annotations?.[name] ?? '']),
        );
        const before: Ownership = { label: metadata.labels?.[HELM_LABEL] ?? null, annotations };
        const gone = Object.fromEntries(HELM_ANNOTATIONS.map((name) => [name, null]));
        await write(metadata.name, null, { ...gone, [OWNER]: JSON.stringify(before) });
      }
    },
    wasBegun: async () => (await disowned()).length > 0,
    undo: async () => {
      for (const { metadata } of await disowned()) {
        const { label, annotations } = JSON.parse(metadata.annotations?.[OWNER] ?? '{}') as Ownership;
        await write(metadata.name, label, { ...annotations, [OWNER]: null });
      }
    },
  };
}

/** Not undone: by then its successor runs. */
function removeStep(kube: Kube, deployment: Deployment): Step {
  const ref = refOf(deployment);
  return {
    name: 'remove',
    what: `remove the Deployment ${ref.namespace}/${ref.name}`,
    isDone: async () => (await ignoreNotFound(kube.get(Kinds.Deployment, ref))) === undefined,
    run: async () => {
      await ignoreNotFound(kube.delete(Kinds.Deployment, ref, { propagationPolicy: 'Background' }));
    },
  };
}

/**
 * Replaces a self-hosted Karpenter or nodewright by AKS node auto-provisioning, with the existing pools. If nodewright
 * had replaced a Karpenter, both Deployments exist.
 */
export async function toManagedSteps(context: AksContext): Promise<readonly Step[]> {
  const { kube, arm, name } = context;
  const found = await Promise.all(NAMES.map((each) => findDeployment(kube, each)));
  const deployments = found.flatMap((each) => each ?? []);
  const { properties } = await readCluster(arm, name);
  if (deployments.length === 0) {
    if (properties.nodeProvisioningProfile?.mode === 'Auto') return managedSteps(context, 'None');
    throw new NodewrightError('NothingToMigrate', { what: 'no Karpenter and no nodewright runs in kube-system' });
  }
  const [first, ...others] = deployments.map((deployment) => stopStep(kube, deployment));
  const stops = first === undefined ? [] : [others.length === 0 ? first : forGood(first), ...others];
  return [
    // A Karpenter already replaced by nodewright stays stopped, whatever fails.
    ...stops.map((step) => (step.undo === undefined ? step : untilManaged(step, context))),
    untilManaged(disownStep(kube), context),
    ...managedSteps(context, 'None'),
    ...deployments.map((deployment) => removeStep(kube, deployment)),
  ];
}

export interface TakeoverOptions {
  readonly image: { readonly repository: string; readonly tag?: string };
  readonly renderChart: (values: Readonly<Record<string, unknown>>) => readonly Manifest[];
  readonly timeout: number;
}

/**
 * Replaces a self-hosted Karpenter by nodewright, with its settings, identity and service account. nodewright updates
 * the hashes of claims, so that no node drifts. The old Deployment stays at 0 replicas until it is removed.
 */
export async function fromKarpenterSteps(context: AksContext, options: TakeoverOptions): Promise<readonly Step[]> {
  const { kube, clock } = context;
  const karpenter = await findDeployment(kube, 'karpenter');
  if (karpenter === undefined) {
    throw new NodewrightError('NothingToMigrate', { what: 'there is no Deployment karpenter in kube-system' });
  }
  const values = await takenOver(kube, karpenter, options);
  const stop = stopStep(kube, karpenter);
  return [
    stop,
    definitionsStep(kube),
    // Undone if this command stopped Karpenter: nodewright must not run when Karpenter is started again.
    chartStep(
      kube,
      async () => options.renderChart(values).map(withEachVariableOnce),
      async () => (await stop.wasBegun?.()) === true,
    ),
    readyStep(kube, clock, options.timeout),
  ];
}

/** Variables set by Kubernetes or the chart; ports are those of the chart's probes. */
const OF_THE_CHART: ReadonlySet<string> = new Set([
  'KUBERNETES_MIN_VERSION',
  'SYSTEM_NAMESPACE',
  'MEMORY_LIMIT',
  'CPU_REQUESTS',
  'METRICS_PORT',
  'HEALTH_PROBE_PORT',
  'CLUSTER_NAME',
  'CLUSTER_ENDPOINT',
]);

/** Karpenter's chart sets most of our variables too. Its values are used: an API server accepts each name only once. */
function withEachVariableOnce(object: Manifest): Manifest {
  if (object.kind !== 'Deployment') return object;
  const deployment = object as Manifest & Pick<Deployment, 'spec'>;
  const containers = deployment.spec?.template.spec?.containers.map((container) => ({
    ...container,
    env: [...new Map((container.env ?? []).map((variable) => [variable.name, variable])).values()],
  }));
  const template = deployment.spec?.template;
  const spec = { ...deployment.spec, template: { ...template, spec: { ...template?.spec, containers } } };
  const once: Manifest & { readonly spec: unknown } = { ...object, spec };
  return once;
}

async function takenOver(
  kube: Kube,
  deployment: Deployment,
  { image }: TakeoverOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const pod = deployment.spec?.template.spec;
  const container = pod?.containers.find(({ name }) => name === 'controller') ?? pod?.containers[0];
  const env = container?.env ?? [];
  const value = (name: string): string => env.find((each) => each.name === name)?.value ?? '';
  const account = pod?.serviceAccountName ?? 'karpenter-sa';
  const found = await ignoreNotFound(kube.get(Kinds.ServiceAccount, { name: account, namespace: RELEASE.Namespace }));
  return {
    image,
    // At least one, even if the user had stopped it.
    replicas: Math.max(1, replicasBefore(deployment)),
    // The federated credential is for this service account.
    serviceAccount: { create: false, name: account, annotations: found?.metadata.annotations ?? {} },
    podLabels: { 'azure.workload.identity/use': 'true' },
    settings: { clusterName: value('CLUSTER_NAME'), clusterEndpoint: value('CLUSTER_ENDPOINT') },
    controller: { env: env.filter(({ name }) => !OF_THE_CHART.has(name)) },
  };
}
