import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { ControlServer, type ControlAddress } from './controlServer.ts';
import { Faults } from './faults.ts';

describe('ControlServer', () => {
  const faults = new Faults({ clock: new SystemClock(), random: new SeededRandom(1) });
  let server: ControlServer;
  let address: ControlAddress;
  beforeEach(async () => {
    server = new ControlServer(faults, 'secret');
    address = await server.listen();
  });
  afterEach(async () => {
    faults.clear();
    await server.close();
  });

  async function ask(method: string, path: string, body?: string, token = 'secret'): Promise<[number, unknown]> {
    const response = await fetch(`${address.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
    });
    return [response.status, await response.json()];
  }

  it('adds, lists and clears faults', async () => {
    const [status, added] = await ask('POST', '/faults', 'zonal-allocation zone=2 share=0.5');
    expect([status, added]).toMatchObject([201, { fault: 'zonal-allocation zone=2 share=0.5', struck: 0 }]);
    expect(await ask('GET', '/faults')).toEqual([200, [added]]);
    expect(await ask('DELETE', `/faults/${(added as { id: number }).id}`)).toEqual([200, []]);
    expect(await ask('DELETE', '/faults/99')).toEqual([404, { error: 'there is no fault #99' }]);
    await ask('POST', '/faults', 'conflict');
    expect(await ask('DELETE', '/faults')).toEqual([200, []]);
  });

  it('reports what is wrong with an order, and requires the token', async () => {
    expect(await ask('POST', '/faults', 'meteor')).toMatchObject([
      400,
      { error: expect.stringContaining('no fault "meteor"') as unknown },
    ]);
    expect(await ask('GET', '/faults', undefined, 'wrong!')).toMatchObject([401, {}]);
  });
});
