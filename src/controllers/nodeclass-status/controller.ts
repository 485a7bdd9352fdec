import { Kinds, type ConfigMap } from '../../api/kinds.ts';
import { Finalizers } from '../../api/labels.ts';
import type { AzureNodeClass, ControlPlane } from '../../azure/nodeClass.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import type { Informer, Informers } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject, patchStatus } from '../../kube/statusPatch.ts';
import { claimsOfClass } from '../nodeclass-termination/claimsOfClass.ts';
import type { World } from '../world/world.ts';
import { imagesChange, previewRecord } from './imagesRecords.ts';

/** Writes the resolved status of each AKSNodeClass: version, images, subnet, and whether they are valid. */
export function nodeClassStatusController(
  world: World,
  informers: Informers,
  resolver: Pick<AzureNodeClass, 'reconcileStatus' | 'windowRef' | 'forget'>,
): Controller {
  const { kube, cluster, ledger } = world;
  const nodeClasses = informers.of(Kinds.AKSNodeClass);
  const windows = windowInformer(informers, resolver.windowRef);
  const everyClass = function* (): Iterable<string> {
    for (const { metadata } of nodeClasses.store.list()) yield metadata.name;
  };
  const controlPlane: ControlPlane = {
    version: (signal) => world.serverVersion.current(signal),
    maintenanceWindow: () => windows && theWindow(windows),
  };
  /** By class: the last record about future images; written again when it changes. */
  const foretold = new Map<string, string>();
  return reconciler({
    ...world,
    name: 'nodeclass.status',
    concurrency: 10,
    watches: [watch(nodeClasses), ...(windows ? [watch(windows, everyClass)] : [])],
    reconcile: async (name, { signal }) => {
      const stored = nodeClasses.store.get({ name });
      if (!stored || stored.metadata.deletionTimestamp) {
        foretold.delete(name);
        resolver.forget(name);
        return undefined;
      }
      const finalizers = [...new Set([...(stored.metadata.finalizers ?? []), Finalizers.nodeClassTermination])];
      const protectedClass = { ...stored, metadata: { ...stored.metadata, finalizers } };
      const nodeClass = await patchObject(kube, Kinds.AKSNodeClass, stored, protectedClass, { lock: true });
      const { status, previews, requeueAfter, errors } = await resolver.reconcileStatus(
        nodeClass,
        controlPlane,
        signal,
      );
      const claims = claimsOfClass(cluster.claims(), name);
      const change = imagesChange(nodeClass, status, claims);
      await patchStatus(kube, Kinds.AKSNodeClass, nodeClass, { ...nodeClass, status }, { lock: true });
      if (change) ledger.append(change);
      const coming = previews.map((preview) => previewRecord(nodeClass, status, preview, claims));
      const saying = JSON.stringify(coming.map(({ when, from, to, missing }) => [when, from, to, missing]));
      if (coming.length > 0 && foretold.get(name) !== saying) coming.forEach((record) => ledger.append(record));
      foretold.set(name, saying);
      if (errors.length > 0) throw errors[0];
      return { requeueAfter };
    },
  });
}

/** Watches only the one ConfigMap that AKS writes; the chart's RBAC allows no other. */
function windowInformer(informers: Informers, ref: AzureNodeClass['windowRef']): Informer<ConfigMap> | undefined {
  if (ref === undefined) return undefined;
  const { namespace, name } = ref;
  return informers.of(Kinds.ConfigMap, { namespace, fieldSelector: `metadata.name=${name}`, optional: true });
}

function theWindow({ store, hasSynced }: Informer<ConfigMap>): ConfigMap | undefined {
  // The informer logs its own failures; until its first list, assume that the window may be closed.
  if (!hasSynced) throw new NodewrightError('MaintenanceWindowUnknown', {});
  const [window] = store.list();
  return window;
}
