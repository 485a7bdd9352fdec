import { beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../api/kinds.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { isMaintenanceWindowOpen, MAINTENANCE_WINDOW } from '../azure/maintenanceWindow.ts';
import { BootstrapTokens } from '../azure/bootstrap/bootstrapTokens.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import { silentLog } from '../kube/log.ts';
import { isBootstrapToken } from '../local/aks/bootstrapTokens.ts';
import { LocalApiServer } from '../local/apiserver/localApiServer.ts';
import { keepOnce, type KeptCluster } from './upkeep.ts';
import type { MaintenanceWindow } from './maintenanceSchedule.ts';

const SATURDAYS: MaintenanceWindow = {
  schedule: { weekly: { intervalWeeks: 1, dayOfWeek: 'Saturday' } },
  durationHours: 4,
  startTime: '02:00',
};
const MONDAY = Date.parse('2026-11-16T12:00:00Z');
const SATURDAY = Date.parse('2026-11-21T03:00:00Z');

describe('the upkeep of a cluster', () => {
  const random = new SeededRandom(2);
  let server: LocalApiServer;
  beforeEach(() => {
    server = new LocalApiServer({ clock: new VirtualClock(MONDAY), random: new SeededRandom(1) });
  });

  const keep = async (now: number, wanted: Partial<KeptCluster>): Promise<readonly string[]> => {
    const upgrades: string[] = [];
    const cluster: KeptCluster = {
      name: 'shop/shop',
      kubernetesVersion: '1.35.3',
      provisioningMode: 'Auto',
      upgradeChannel: 'none',
      autoUpgradeWindow: undefined,
      nodeImageWindow: undefined,
      ...wanted,
    };
    await keepOnce({
      kube: server.kube,
      clock: new VirtualClock(now),
      random,
      log: silentLog,
      cluster: () => cluster,
      versions: ['1.35.3', '1.36.1', '1.36.3'],
      upgrade: (version) => upgrades.push(version),
    });
    return upgrades;
  };
  const isOpen = async (now: number): Promise<boolean> => {
    const ref = { namespace: 'kube-system', name: MAINTENANCE_WINDOW };
    return isMaintenanceWindowOpen(await ignoreNotFound(server.kube.get(Kinds.ConfigMap, ref)), now);
  };

  it('lets node images change once a week without a window, on a day of the cluster', async () => {
    const openDays = async (name: string): Promise<readonly number[]> => {
      const open: number[] = [];
      for (let day = 0; day < 14; day += 1) {
        const now = MONDAY + day * 86_400_000 - 9 * 3_600_000;
        await keep(now, { name });
        if (await isOpen(now)) open.push(new Date(now).getUTCDay());
      }
      return open;
    };
    const days: (readonly number[])[] = [];
    for (const name of ['shop/shop', 'shop/other', 'a/b', 'a/c', 'a/d']) days.push(await openDays(name));
    for (const open of days) {
      expect(open).toHaveLength(2);
      expect(open[0]).toBe(open[1]);
    }
    expect(new Set(days.flat()).size).toBeGreaterThan(1);
  });

  it('lets node images change within their window only, and at any time without one and without its help', async () => {
    await keep(MONDAY, { provisioningMode: 'Manual' });
    expect(await isOpen(MONDAY)).toBe(true);
    await keep(MONDAY, { nodeImageWindow: SATURDAYS });
    expect(await isOpen(MONDAY)).toBe(false);
    expect(await isOpen(SATURDAY)).toBe(true);
    const { data } = await server.kube.get(Kinds.ConfigMap, {
      namespace: 'kube-system',
      name: 'upcoming-maintenance-window',
    });
    expect(data?.['aksManagedNodeOSUpgradeSchedule-start']).toBe('2026-11-21T02:00:00.000Z');
    await keep(SATURDAY + 4 * 3_600_000, { nodeImageWindow: SATURDAYS });
    expect(await isOpen(SATURDAY)).toBe(false);
    const never = { ...SATURDAYS, notAllowedDates: [{ start: '2020-01-01', end: '2040-01-01' }] };
    await keep(MONDAY, { nodeImageWindow: never });
    expect(await isOpen(SATURDAY)).toBe(false);
    await keep(MONDAY, { provisioningMode: 'Manual' });
    expect(await isOpen(MONDAY)).toBe(true);
  });

  it.each(['Auto', 'Manual'] as const)(
    'gives it a token that nodes can join with in the mode %s',
    async (provisioningMode) => {
      await keep(MONDAY, { provisioningMode });
      const tokens = new BootstrapTokens({ kube: server.kube, clock: new VirtualClock(MONDAY), configured: 'auto' });
      const token = await tokens.current();
      expect(isBootstrapToken(server.peek('', 'secrets'), token, MONDAY)).toBe(true);
      await keep(MONDAY + 60_000, { provisioningMode: 'Manual' });
      expect(isBootstrapToken(server.peek('', 'secrets'), token, MONDAY)).toBe(true);
    },
  );

  it('upgrades Kubernetes by its channel, within the window of upgrades', async () => {
    expect(await keep(MONDAY, {})).toEqual([]);
    expect(await keep(MONDAY, { upgradeChannel: 'rapid' })).toEqual(['1.36.3']);
    expect(await keep(MONDAY, { upgradeChannel: 'rapid', autoUpgradeWindow: SATURDAYS })).toEqual([]);
    expect(await keep(SATURDAY, { upgradeChannel: 'rapid', autoUpgradeWindow: SATURDAYS })).toEqual(['1.36.3']);
    expect(await keep(SATURDAY, { upgradeChannel: 'patch' })).toEqual([]);
  });
});
