import { NodeOverlayConditions, Reasons } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_OVERLAY_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeOverlay } from '../../api/kinds/nodeOverlay.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { Informer, InformerEvent } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { isManaged } from '../world/managed.ts';
import { poolInstanceTypes } from '../world/nodeClassOfPool.ts';
import type { World } from '../world/world.ts';
import { evaluateOverlays, type OverlayVerdict, type PoolTypes } from './evaluation.ts';
import type { OverlayStore } from './overlayCloud.ts';

const RESYNC = 6 * 60 * 60_000;

export interface NodeOverlayOptions {
  readonly overlays: Informer<NodeOverlay>;
  readonly store: OverlayStore;
  /** The provider without overlays. */
  readonly cloud: CloudProvider;
}

/** Evaluates all overlays together whenever an overlay, a pool or a class changes, and writes each result. */
export function nodeOverlayController(world: World, { overlays, store, cloud }: NodeOverlayOptions): Controller {
  const { informers, kube, clock } = world;

  async function typesOfPools(signal: AbortSignal): Promise<{ pools: PoolTypes[]; errors: unknown[] }> {
    const errors: unknown[] = [];
    const pools = [...informers.nodePools.store.list()].filter(({ spec, metadata }) => {
      return isManaged(spec.template.spec.nodeClassRef, cloud) && !metadata.deletionTimestamp;
    });
    const listed = await Promise.all(
      pools.map(async (pool): Promise<PoolTypes[]> => {
        try {
          return [{ pool, instanceTypes: await poolInstanceTypes(pool, cloud, informers, signal) }];
        } catch (error) {
          errors.push(error);
          return [];
        }
      }),
    );
    return { pools: listed.flat(), errors };
  }

  async function say(overlay: NodeOverlay, verdict: OverlayVerdict | undefined): Promise<void> {
    const type = NodeOverlayConditions.validationSucceeded;
    const conditions = new ConditionSet(NODE_OVERLAY_CONDITIONS, overlay, clock.now());
    if (verdict?.kind === 'invalid') {
      conditions.setFalse(type, clock.now(), Reasons.runtimeValidation, verdict.message);
    } else if (verdict?.kind === 'conflict') {
      conditions.setFalse(type, clock.now(), Reasons.conflict, verdict.message);
    } else conditions.setTrue(type, clock.now());
    const status = { ...overlay.status, conditions: conditions.conditions };
    await patchStatus(kube, Kinds.NodeOverlay, overlay, { ...overlay, status }, { lock: true });
  }

  return reconciler({
    ...world,
    name: 'nodeoverlay',
    watches: [
      watch(overlays, onChange),
      watch(informers.nodePools, onChange),
      ...informers.nodeClasses.map(({ informer }) => watch(informer, onChange)),
    ],
    reconcile: async (_key, { signal }) => {
      const { pools, errors } = await typesOfPools(signal);
      const present = [...overlays.store.list()].filter(({ metadata }) => !metadata.deletionTimestamp);
      const evaluation = evaluateOverlays(present, pools);
      for (const overlay of present) await say(overlay, evaluation.verdicts.get(overlay.metadata.name));
      store.replace(evaluation);
      if (errors.length > 0) throw new AggregateError(errors, `the types of ${errors.length} NodePools are not known`);
      return { requeueAfter: RESYNC };
    },
  });
}

/** One key for all, because overlays are evaluated together; ignores mere status changes. */
function onChange(event: InformerEvent<{ metadata: { name: string; generation?: number } }>): readonly string[] {
  const same = event.type === 'updated' && event.old.metadata.generation === event.object.metadata.generation;
  return same ? [] : ['all'];
}
