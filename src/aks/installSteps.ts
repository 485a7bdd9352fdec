/** Installation into the cluster as steps: CRDs, nodewright itself, default pools. */
import { createHash } from 'node:crypto';
import { renderCrds } from '../api/crds.ts';
import { Kinds } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import { InvariantError } from '../errors/invariantError.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import type { Draft, Kube, ObjectRef } from '../kube/kube.ts';
import { defaultNodeClass, defaultPoolsFor } from '../nap/defaultPools.ts';
import type { Manifest } from './renderChart.ts';
import type { Step } from './step.ts';

export const RELEASE = { Name: 'nodewright', Namespace: 'kube-system' } as const;
/** On each object: identifies the rendering of the chart. */
const INSTALLED = 'nodewright.dev/installed';
const APPLY = { fieldManager: 'nodewright-install', force: true } as const;

const rbac = (kind: string, plural: string, namespaced: boolean): ResourceKind<KubeObject> => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural,
  singular: kind.toLowerCase(),
  namespaced,
});

const CHART_KINDS: Readonly<Record<string, ResourceKind<KubeObject>>> = {
  ServiceAccount: Kinds.ServiceAccount,
  Service: Kinds.Service,
  Deployment: Kinds.Deployment,
  PodDisruptionBudget: Kinds.PodDisruptionBudget,
  ClusterRole: rbac('ClusterRole', 'clusterroles', false),
  ClusterRoleBinding: rbac('ClusterRoleBinding', 'clusterrolebindings', false),
  Role: rbac('Role', 'roles', true),
  RoleBinding: rbac('RoleBinding', 'rolebindings', true),
};

function kindOf({ kind }: Pick<Manifest, 'kind'>): ResourceKind<KubeObject> {
  const found = CHART_KINDS[kind];
  if (found === undefined)
    throw new InvariantError(`The chart has an object of the kind ${kind}, which is not installed.`);
  return found;
}

function refOf({ metadata: { name, namespace } }: KubeObject): ObjectRef {
  return { name, namespace };
}

/** Existing CRDs keep their labels, annotations and Helm ownership. They are never removed. */
export function definitionsStep(kube: Kube): Step {
  const wanted = renderCrds();
  const marks = { 'meta.helm.sh/release-name': 'nodewright-crd', 'meta.helm.sh/release-namespace': RELEASE.Namespace };
  return {
    name: 'definitions',
    what: `install ${wanted.length} custom resource definitions`,
    isDone: async () => {
      for (const crd of wanted) {
        const found = await ignoreNotFound(kube.get(Kinds.CustomResourceDefinition, { name: crd.metadata.name }));
        if (found?.metadata.annotations?.[INSTALLED] !== digest(crd)) return false;
      }
      return true;
    },
    run: async () => {
      for (const crd of wanted) {
        const ref = { name: crd.metadata.name };
        const found = await ignoreNotFound(kube.get(Kinds.CustomResourceDefinition, ref));
        const owner = found?.metadata.annotations?.['meta.helm.sh/release-name'];
        // Our marks are applied again; a mark of a former owner is removed.
        const isOwned = owner !== undefined && owner !== marks['meta.helm.sh/release-name'];
        const body = {
          ...crd,
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: {
            name: crd.metadata.name,
            annotations: { [INSTALLED]: digest(crd), ...(!isOwned && marks) },
            ...(!isOwned && { labels: { 'app.kubernetes.io/managed-by': 'Helm' } }),
          },
        };
        await kube.patch(Kinds.CustomResourceDefinition, ref, { type: 'apply', body }, APPLY);
      }
    },
  };
}

/**
 * Installs the chart's objects in a form that `helm upgrade --install` can take over. `wasBegun`: existing objects come
 * from an interrupted run, so a failure removes them too.
 */
export function chartStep(
  kube: Kube,
  render: () => Promise<readonly Manifest[]>,
  wasBegun: () => Promise<boolean> = async () => false,
): Step {
  const created: Manifest[] = [];
  return {
    name: 'nodewright',
    what: `install nodewright in ${RELEASE.Namespace}`,
    // Check all of them: an earlier run may have stopped in between.
    isDone: async () => {
      const objects = await render();
      const mark = digest(objects);
      for (const object of objects) {
        const found = await ignoreNotFound(kube.get(kindOf(object), refOf(object)));
        if (found?.metadata.annotations?.[INSTALLED] !== mark) return false;
      }
      return true;
    },
    run: async () => {
      const objects = await render();
      const mark = digest(objects);
      for (const object of objects) {
        const kind = kindOf(object);
        if ((await ignoreNotFound(kube.get(kind, refOf(object)))) === undefined) created.push(object);
        await kube.patch(kind, refOf(object), { type: 'apply', body: marked(object, mark) }, APPLY);
      }
    },
    wasBegun,
    undo: async () => removeObjects(kube, (await wasBegun()) ? await render() : created),
  };
}

/** Whether any of them is there. */
export async function areInstalled(kube: Kube, objects: readonly Manifest[]): Promise<boolean> {
  for (const object of objects) {
    if ((await ignoreNotFound(kube.get(kindOf(object), refOf(object)))) !== undefined) return true;
  }
  return false;
}

export async function removeObjects(kube: Kube, objects: readonly Manifest[]): Promise<void> {
  for (const object of objects.toReversed()) {
    await ignoreNotFound(kube.delete(kindOf(object), refOf(object), { propagationPolicy: 'Background' }));
  }
}

function marked(object: Manifest, mark: string): Manifest {
  const { labels, annotations } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...labels, 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: {
        ...annotations,
        'meta.helm.sh/release-name': RELEASE.Name,
        'meta.helm.sh/release-namespace': RELEASE.Namespace,
        [INSTALLED]: mark,
      },
    },
  };
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

/** Existing pools are not changed. */
export function poolsStep(kube: Kube, network: { readonly networkDataplane: string }): Step {
  const made: (() => Promise<unknown>)[] = [];
  const missing = async <T extends KubeObject>(
    kind: ResourceKind<T>,
    drafts: readonly Draft<T>[],
  ): Promise<Draft<T>[]> => {
    const found = await Promise.all(
      drafts.map(({ metadata }) => ignoreNotFound(kube.get(kind, { name: metadata.name ?? '' }))),
    );
    return drafts.filter((_, index) => found[index] === undefined);
  };
  const classes = () => missing(Kinds.AKSNodeClass, [defaultNodeClass]);
  const pools = () => missing(Kinds.NodePool, defaultPoolsFor(network));
  const create = async <T extends KubeObject>(kind: ResourceKind<T>, drafts: readonly Draft<T>[]): Promise<void> => {
    for (const draft of drafts) {
      await kube.create(kind, draft);
      made.push(() => ignoreNotFound(kube.delete(kind, { name: draft.metadata.name ?? '' })));
    }
  };
  return {
    name: 'default-pools',
    what: 'create the NodePools default and system-surge and the AKSNodeClass default',
    // Until the CRDs exist, there are no objects of these kinds.
    isDone: async () => (await classes()).length === 0 && (await pools()).length === 0,
    run: async () => {
      await create(Kinds.AKSNodeClass, await classes());
      await create(Kinds.NodePool, await pools());
    },
    undo: async () => {
      for (const remove of made.toReversed()) await remove();
    },
  };
}

const LOOK_AGAIN = 2_000;

export function readyStep(kube: Kube, clock: Clock, timeout: number): Step {
  const ref = { name: RELEASE.Name, namespace: RELEASE.Namespace };
  const isReady = async (): Promise<boolean> => {
    const deployment = await ignoreNotFound(kube.get(Kinds.Deployment, ref));
    const { observedGeneration = 0, availableReplicas = 0, updatedReplicas = 0 } = deployment?.status ?? {};
    const isSeen = deployment !== undefined && observedGeneration >= (deployment.metadata.generation ?? 1);
    return isSeen && availableReplicas > 0 && updatedReplicas > 0;
  };
  return {
    name: 'ready',
    what: 'wait until nodewright runs',
    isDone: isReady,
    run: async () => {
      const deadline = clock.now() + timeout;
      while (!(await isReady())) {
        if (clock.now() >= deadline) {
          throw new NodewrightError('NotReadyInTime', {
            what: `Deployment ${ref.namespace}/${ref.name}`,
            seconds: timeout / 1000,
          });
        }
        await clock.sleep(LOOK_AGAIN);
      }
    },
  };
}
