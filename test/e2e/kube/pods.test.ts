import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import type { Pod } from '../../../src/api/kinds.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { isConflict, isNotFound, isTooManyRequests } from '../../../src/kube/errors.ts';
import type { Kube } from '../../../src/kube/kube.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { connections } from './connect.ts';
import { failure } from './failure.ts';

const namespace = 'default';
type Scale = KubeObject & { spec?: { replicas?: number }; status?: { replicas: number } };

describe('pods and their subresources on a real API server', () => {
  const connect = connections();
  let plane: ControlPlane;
  let kube: Kube;

  beforeAll(async () => {
    plane = await startControlPlane({
      controllerManager: true,
      controllerManagerControllers: ['disruption-controller'],
    });
    kube = await connect(plane.adminKubeconfig);
    await kube.create(Kinds.Node, { metadata: { name: 'node-1' } });
  });
  afterAll(() => plane?.stop());

  const createPod = (name: string, app = name): Promise<Pod> =>
    kube.create(Kinds.Pod, {
      metadata: { name, namespace, labels: { app } },
      spec: { containers: [{ name: 'main', image: 'main' }], terminationGracePeriodSeconds: 0 },
    });
  const ready = (name: string): Promise<Pod> => {
    const conditions = [{ type: 'Ready', status: 'True' }];
    const body = { status: { phase: 'Running', conditions } };
    return kube.patch(Kinds.Pod, { name, namespace }, { type: 'strategic', body }, { subresource: 'status' });
  };

  it('binds a pod to a node once', async () => {
    await createPod('bound');
    const ref = { name: 'bound', namespace };
    await kube.bind(ref, 'node-1');
    expect((await kube.get(Kinds.Pod, ref)).spec?.nodeName).toBe('node-1');
    expect(isConflict(await failure(kube.bind(ref, 'node-2')))).toBe(true);
    expect(isNotFound(await failure(kube.bind({ name: 'absent', namespace }, 'node-1')))).toBe(true);
  });

  it('binds in a dry run without doing so', async () => {
    await createPod('unbound');
    await kube.bind({ name: 'unbound', namespace }, 'node-1', { dryRun: true });
    expect((await kube.get(Kinds.Pod, { name: 'unbound', namespace })).spec?.nodeName).toBeUndefined();
  });

  it('evicts a pod that no budget protects', async () => {
    const ref = { name: 'free', namespace };
    const { metadata } = await createPod('free');
    await kube.evict(ref, { dryRun: true });
    expect((await kube.get(Kinds.Pod, ref)).metadata.deletionTimestamp).toBeUndefined();
    await kube.evict(ref, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid ?? '' } });
    expect(isNotFound(await failure(kube.get(Kinds.Pod, ref)))).toBe(true);
    expect(isNotFound(await failure(kube.evict(ref)))).toBe(true);
  });

  it('is refused an eviction by a budget, at once and with the reason', async () => {
    await kube.create(Kinds.PodDisruptionBudget, {
      metadata: { name: 'guard', namespace },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'guarded' } } },
    });
    for (const name of ['guarded-1', 'guarded-2', 'guarded-3']) {
      await createPod(name, 'guarded');
      await kube.bind({ name, namespace }, 'node-1');
      await ready(name);
    }
    await eventually('the budget allows one disruption', async () => {
      const { status } = await kube.get(Kinds.PodDisruptionBudget, { name: 'guard', namespace });
      return status?.disruptionsAllowed === 1 && status.currentHealthy === 3 ? true : undefined;
    });
    await kube.evict({ name: 'guarded-1', namespace });
    const started = performance.now();
    const error = await failure(kube.evict({ name: 'guarded-2', namespace }));
    expect(isTooManyRequests(error)).toBe(true);
    expect(error).toMatchObject({ code: 429, status: { details: { causes: [{ reason: 'DisruptionBudget' }] } } });
    expect(String(error)).toMatch(/violate the pod's disruption budget|being processed/);
    // The answer is final for this moment: the drain decides when to ask again, not the transport.
    expect(performance.now() - started).toBeLessThan(5000);
    expect((await kube.get(Kinds.Pod, { name: 'guarded-2', namespace })).metadata.deletionTimestamp).toBeUndefined();
  });

  it('scales through the subresource', async () => {
    const ref = { name: 'scaled', namespace };
    const scale = { ...Kinds.Deployment, __object: undefined } as typeof Kinds.Deployment & { __object?: never };
    await kube.create(Kinds.Deployment, {
      metadata: ref,
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'scaled' } },
        template: {
          metadata: { labels: { app: 'scaled' } },
          spec: { containers: [{ name: 'main', image: 'main' }] },
        },
      },
    });
    const read = (await kube.get<KubeObject>(scale, ref, { subresource: 'scale' })) as Scale;
    expect(read).toMatchObject({ kind: 'Scale', spec: { replicas: 1 } });
    const wanted: Scale = { ...read, spec: { replicas: 3 } };
    await kube.replace<KubeObject>(scale, wanted, { subresource: 'scale' });
    expect((await kube.get(Kinds.Deployment, ref)).spec?.replicas).toBe(3);
    const patch = { type: 'merge', body: { spec: { replicas: 0 } } } as const;
    await kube.patch(Kinds.Deployment, ref, patch, { subresource: 'scale' });
    expect((await kube.get(Kinds.Deployment, ref)).spec?.replicas).toBe(0);
  });

  it('deletes dependents as the policy says', async () => {
    const ref = { name: 'owner', namespace };
    await kube.create(Kinds.ConfigMap, { metadata: ref });
    await kube.delete(Kinds.ConfigMap, ref, { propagationPolicy: 'Foreground' });
    // No garbage collector runs here, so the finalizer that the policy sets stays.
    expect((await kube.get(Kinds.ConfigMap, ref)).metadata.finalizers).toEqual(['foregroundDeletion']);
  });
});
