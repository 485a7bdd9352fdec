/** An `HttpKube` on a real API server that is closed when its test file ends. */
import { afterAll } from 'vitest';
import { SystemClock } from '../../../src/clock/systemClock.ts';
import { systemRandom } from '../../../src/clock/systemRandom.ts';
import { HttpKube } from '../../../src/kube/httpKube.ts';
import { loadKubeconfig } from '../../../src/kube/kubeconfig.ts';

type HttpKubeOptions = Partial<ConstructorParameters<typeof HttpKube>[0]>;

/** Gives out clients; call it inside `describe`. */
export function connections(): (kubeconfig: string, options?: HttpKubeOptions) => Promise<HttpKube> {
  const open: HttpKube[] = [];
  afterAll(() => Promise.all(open.map((kube) => kube.close())));
  return async (path, options = {}) => {
    const config = await loadKubeconfig({ path });
    const kube = new HttpKube({ config, clock: new SystemClock(), random: systemRandom, ...options });
    open.push(kube);
    return kube;
  };
}
