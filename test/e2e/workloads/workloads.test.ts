/** Deployments, Jobs and CronJobs beside the real controllers, without nodes: after the same changes the same objects. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import { ignoreNotFound } from '../../../src/kube/errors.ts';
import type { Kube } from '../../../src/kube/kube.ts';
import { Simulation } from '../../fixtures/local/simulation.ts';
import { startControlPlane, type ControlPlane } from '../../controlplane/controlPlane.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { connections } from '../kube/connect.ts';

type Step = (kube: Kube, namespace: string) => Promise<unknown>;

const CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'job-controller',
  'cronjob-controller',
  'serviceaccount-controller',
  'garbage-collector-controller',
];

const labels = { app: 'web' };
const template = (image: string): object => ({ metadata: { labels }, spec: { containers: [{ name: 'main', image }] } });
const create =
  (spec: object, annotations: Record<string, string> = {}): Step =>
  (kube, namespace) =>
    kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace, annotations },
      spec: { replicas: 4, selector: { matchLabels: labels }, template: template('a') as never, ...spec },
    });
const patch =
  (body: object): Step =>
  (kube, namespace) =>
    kube.patch(Kinds.Deployment, { name: 'web', namespace }, { type: 'merge', body });
const job = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] } } };

const STORIES: Readonly<Record<string, readonly Step[]>> = {
  'a rollout, its history and the way back': [
    create({}, { 'kubernetes.io/change-cause': 'first', 'example.com/note': 'x' }),
    patch({ metadata: { annotations: { 'kubernetes.io/change-cause': 'second' } }, spec: { template: template('b') } }),
    patch({ metadata: { annotations: { 'kubernetes.io/change-cause': 'back' } }, spec: { template: template('a') } }),
    patch({ spec: { minReadySeconds: 5 } }),
  ],
  'a change of size': [
    create({ strategy: { type: 'Recreate' } }),
    patch({ spec: { replicas: 7 } }),
    patch({ spec: { replicas: 0 } }),
  ],
  'a pause': [
    create({}),
    patch({ spec: { paused: true } }),
    patch({ spec: { template: template('b') } }),
    patch({ spec: { replicas: 2 } }),
    patch({ spec: { paused: false } }),
  ],
  'a rollout that gets nowhere': [create({ progressDeadlineSeconds: 1 })],
  'no progress deadline': [create({ progressDeadlineSeconds: 2 ** 31 - 1 })],
  'a Recreate rollout': [create({ strategy: { type: 'Recreate' } }), patch({ spec: { template: template('b') } })],
  'a Job that is deleted at work': [
    (kube, namespace) =>
      kube.create(Kinds.Job, { metadata: { name: 'work', namespace }, spec: { parallelism: 2, ...job } as never }),
    (kube, namespace) => kube.delete(Kinds.Job, { name: 'work', namespace }, { propagationPolicy: 'Background' }),
  ],
  'a Job that is made from a CronJob by hand': [
    async (kube, namespace) => {
      const spec = { schedule: '0 0 1 1 *', jobTemplate: { spec: job } } as never;
      const { metadata } = await kube.create(Kinds.CronJob, { metadata: { name: 'tick', namespace }, spec });
      const owner = {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        name: 'tick',
        uid: metadata.uid ?? '',
        controller: true,
      };
      const by = { name: 'by-hand', namespace, ownerReferences: [owner] };
      await kube.create(Kinds.Job, { metadata: by, spec: job as never });
    },
  ],
};

/** What both must agree on, with the names of ReplicaSets by their revision. */
async function look(kube: Kube, namespace: string): Promise<unknown> {
  const sets = (await kube.list(Kinds.ReplicaSet, { namespace })).items;
  const names = sets.map(({ metadata }) => [
    metadata.name,
    `revision ${metadata.annotations?.['deployment.kubernetes.io/revision']}`,
  ]);
  const plain = (value: unknown): unknown =>
    JSON.parse(
      names.reduce(
        (text, [name = '', revision = '']) => text.replaceAll(name, revision),
        JSON.stringify(value ?? null),
      ),
    );
  const deployments = (await kube.list(Kinds.Deployment, { namespace })).items;
  const pods = (await kube.list(Kinds.Pod, { namespace })).items;
  const cronJobs = (await kube.list(Kinds.CronJob, { namespace })).items;
  return plain({
    deployments: deployments.map(({ metadata, status }) => {
      const { conditions, ...counts } = status ?? {};
      const shown = conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]);
      return { generation: metadata.generation, annotations: metadata.annotations, counts, conditions: shown };
    }),
    sets: sets
      .map(({ metadata, spec, status }) => {
        const { replicas, minReadySeconds } = spec ?? {};
        return { name: metadata.name, annotations: metadata.annotations, replicas, minReadySeconds, status };
      })
      .toSorted((left, right) => Number(left.replicas) - Number(right.replicas)),
    pods: pods.map(({ metadata }) => metadata.finalizers ?? []),
    active: cronJobs.map(({ status }) => (status?.active ?? []).map(({ name }) => name)),
  });
}

describe('workload controllers', { timeout: 180_000 }, () => {
  const connect = connections();
  let plane: ControlPlane;
  let kube: Kube;

  beforeAll(async () => {
    plane = await startControlPlane({ controllerManager: true, controllerManagerControllers: CONTROLLERS });
    kube = await connect(plane.adminKubeconfig);
  }, 180_000);
  afterAll(async () => plane?.stop());

  /** The objects once nothing has changed for a while. */
  async function settled(namespace: string): Promise<unknown> {
    let before = '';
    let since = Date.now();
    return eventually(
      'the controllers are done',
      async () => {
        const now = await look(kube, namespace);
        const text = JSON.stringify(now);
        if (text !== before) since = Date.now();
        before = text;
        return Date.now() - since > 3_500 ? now : undefined;
      },
      60_000,
    );
  }

  it.each(Object.entries(STORIES).map(([what, steps], index) => [what, steps, `story-${index}`] as const))(
    '%s',
    async (_what, steps, namespace) => {
      const simulation = new Simulation(1);
      try {
        await simulation.advance(1_000);
        for (const each of [kube, simulation.kube])
          await each.create(Kinds.Namespace, { metadata: { name: namespace } });
        await eventually('there is a service account', () =>
          ignoreNotFound(kube.get(Kinds.ServiceAccount, { name: 'default', namespace })),
        );
        for (const [index, step] of steps.entries()) {
          await step(kube, namespace);
          await step(simulation.kube, namespace);
          await simulation.advance(5_000);
          expect([index, await look(simulation.kube, namespace)]).toEqual([index, await settled(namespace)]);
        }
      } finally {
        await simulation.stop();
      }
    },
  );
});
