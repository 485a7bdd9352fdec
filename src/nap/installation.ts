/** What AKS installs in a cluster with node auto-provisioning: CRDs, and pools unless disabled. */
import { renderCrds } from '../api/crds.ts';
import { Kinds } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { ignoreNotFound, isAlreadyExists } from '../kube/errors.ts';
import type { Draft, Kube } from '../kube/kube.ts';
import { defaultNodeClass, defaultPoolsFor } from './defaultPools.ts';

/** The Helm release name used by AKS, as recorded on its CRDs. */
const RELEASE = 'aks-managed-karpenter-overlay-base';
const NAMESPACE = 'kube-system';
const FIELD_MANAGER = 'nodewright';

export interface InstallationOptions {
  readonly defaultNodePools: 'Auto' | 'None';
  readonly networkDataplane: string;
}

/** Repeatable. Existing pools are not changed, even if default pools are no longer wanted. */
export async function installNodeProvisioning(kube: Kube, options: InstallationOptions): Promise<void> {
  await installDefinitions(kube);
  const record = await ignoreNotFound(kube.get(Kinds.ConfigMap, { namespace: NAMESPACE, name: RELEASE }));
  // Only once: a user may have deleted the pools since.
  if (record?.data?.['defaultNodePools'] === options.defaultNodePools) return;
  if (options.defaultNodePools === 'Auto') {
    await createUnlessThere(kube, Kinds.AKSNodeClass, defaultNodeClass);
    for (const pool of defaultPoolsFor(options)) await createUnlessThere(kube, Kinds.NodePool, pool);
  }
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: RELEASE, namespace: NAMESPACE },
    data: { defaultNodePools: options.defaultNodePools },
  };
  const ref = { namespace: NAMESPACE, name: RELEASE };
  await kube.patch(Kinds.ConfigMap, ref, { type: 'apply', body }, { fieldManager: FIELD_MANAGER, force: true });
}

/** CRDs and pools are kept, so that no user data is lost. */
export async function removeNodeProvisioning(kube: Kube): Promise<void> {
  await ignoreNotFound(kube.delete(Kinds.ConfigMap, { namespace: NAMESPACE, name: RELEASE }));
}

/** Updates CRDs of an existing cluster to this version. Node classes of other clouds are not part of AKS. */
async function installDefinitions(kube: Kube): Promise<void> {
  for (const crd of renderCrds().filter(({ spec }) => spec.group !== Kinds.KWOKNodeClass.group)) {
    const body = {
      ...crd,
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        ...crd.metadata,
        labels: { 'app.kubernetes.io/managed-by': 'Helm' },
        annotations: { 'meta.helm.sh/release-name': RELEASE, 'meta.helm.sh/release-namespace': NAMESPACE },
      },
    };
    const options = { fieldManager: FIELD_MANAGER, force: true };
    await kube.patch(Kinds.CustomResourceDefinition, { name: crd.metadata.name }, { type: 'apply', body }, options);
  }
}

async function createUnlessThere<T extends KubeObject>(
  kube: Kube,
  kind: ResourceKind<T>,
  object: Draft<T>,
): Promise<void> {
  try {
    await kube.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
