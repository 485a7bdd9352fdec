import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { loadKubeconfig } from '../../kube/kubeconfig.ts';
import { LocalApiServer } from '../apiserver/localApiServer.ts';
import { parseFault } from './faultKinds.ts';
import { Faults } from './faults.ts';
import { serverFaults } from './apiFaults.ts';

const clock = new SystemClock();
const faults = new Faults({ clock, random: systemRandom });
const server = new LocalApiServer({ clock, random: systemRandom, trouble: serverFaults(faults) });
const folder = mkdtempSync(join(tmpdir(), 'nodewright-faults-'));
const clients: HttpKube[] = [];
let kubectl: HttpKube;
let nodewright: HttpKube;

beforeAll(async () => {
  await server.listen();
  await server.writeKubeconfig(join(folder, 'kubeconfig'));
  const config = await loadKubeconfig({ path: join(folder, 'kubeconfig') });
  kubectl = new HttpKube({ config, clock, random: systemRandom, userAgent: 'kubectl/v1.36.0' });
  nodewright = new HttpKube({ config, clock, random: systemRandom });
  clients.push(kubectl, nodewright);
  await kubectl.create(Kinds.ConfigMap, { metadata: { name: 'one', namespace: 'default' } } as never);
});
afterEach(() => faults.clear());
afterAll(async () => {
  await Promise.all(clients.map(async (client) => await client.close()));
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = (client: HttpKube): Promise<unknown> =>
  client.patch(
    Kinds.ConfigMap,
    { name: 'one', namespace: 'default' },
    { type: 'merge', body: { data: { now: String(clock.now()) } } },
  );
const firstEvent = async (client: HttpKube): Promise<string> => {
  const stop = new AbortController();
  try {
    for await (const event of client.watch(Kinds.ConfigMap, { resourceVersion: '0', signal: stop.signal })) {
      return event.type;
    }
    return 'ended';
  } catch (error) {
    return `code ${String((error as { code?: number }).code)}`;
  } finally {
    stop.abort();
  }
};

it('answers only writes of the named client with a conflict', async () => {
  faults.add(parseFault('conflict client=kubectl kind=ConfigMap'));
  await expect(write(kubectl)).rejects.toMatchObject({ code: 409, reason: 'Conflict' });
  await expect(write(nodewright)).resolves.toBeDefined();
  faults.clear();
  faults.add(parseFault('conflict client=kubectl kind=Secret'));
  await expect(write(kubectl)).resolves.toBeDefined();
  faults.clear();
  // Without `client=` the fault concerns nodewright, whose own client injects it.
  const own = faults.add(parseFault('conflict'));
  await expect(write(kubectl)).resolves.toBeDefined();
  expect(own.struck).toBe(0);
});

it('ends watches with 410, or cuts their connection', async () => {
  expect(await firstEvent(kubectl)).toBe('ADDED');
  faults.add(parseFault('watch-gone client=all kind=configmap'));
  expect(await firstEvent(kubectl)).toBe('code 410');
  expect(await firstEvent(nodewright)).toBe('ADDED');
  faults.clear();
  faults.add(parseFault('watch-drop client=kubectl'));
  expect(await firstEvent(kubectl)).not.toBe('ADDED');
});

it('delays answers', async () => {
  faults.add(parseFault('slow-api client=kubectl by=300ms'));
  const before = performance.now();
  await write(kubectl);
  expect(performance.now() - before).toBeGreaterThan(250);
});
