/** The two schedulers that the suites of this folder compare: kube-scheduler, and the one of the local world. */
import { afterAll, beforeAll } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import { ignoreNotFound } from '../../../src/kube/errors.ts';
import type { HttpKube } from '../../../src/kube/httpKube.ts';
import type { Kube } from '../../../src/kube/kube.ts';
import { Simulation } from '../../fixtures/local/simulation.ts';
import { startControlPlane, type ControlPlane } from '../../controlplane/controlPlane.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { connections } from '../kube/connect.ts';

/** Asks until there is an answer. */
export type Until = <T>(what: string, ask: () => Promise<T | undefined>) => Promise<T>;

const STEPS = 100;
const STEP = 10;

/** A real control plane for the suite that calls it; the client is there once the suite's tests run. */
export function realScheduler(): () => HttpKube {
  const connect = connections();
  let plane: ControlPlane | undefined;
  let kube: HttpKube;
  beforeAll(async () => {
    plane = await startControlPlane({
      scheduler: true,
      controllerManager: true,
      controllerManagerControllers: ['serviceaccount-controller'],
    });
    kube = await connect(plane.adminKubeconfig);
    await eventually('there is a service account', () =>
      ignoreNotFound(kube.get(Kinds.ServiceAccount, { name: 'default', namespace: 'default' })),
    );
  }, 180_000);
  afterAll(async () => plane?.stop());
  return () => kube;
}

/** Does `work` in a local world of its own, whose clock moves while `until` waits. */
export async function withLocalScheduler<R>(work: (kube: Kube, until: Until) => Promise<R>): Promise<R> {
  const simulation = new Simulation(1);
  try {
    await simulation.advance(1_000);
    return await work(simulation.kube, async (what, ask) => {
      for (let step = 0; step < STEPS; step++) {
        const answer = await ask();
        await simulation.advance(STEP);
        if (answer !== undefined) return answer;
      }
      throw new Error(`not within a second: ${what}`);
    });
  } finally {
    await simulation.stop();
  }
}
