import { expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { SkuCatalogue } from '../../src/catalogue/skuCatalogue.ts';
import { firstPlanned } from '../../src/cloud/plannedOfferings.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

const MINUTE = 60_000;
const PODS = 10;
/** vCPUs that every family has left. */
const WALL = 4;

/** Pods of which each has a node of its own. */
async function deployApart(aks: VirtualAks, name: string, replicas: number): Promise<void> {
  const labels = { app: name };
  await aks.kube.create(Kinds.Deployment, {
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '1500m', memory: '1Gi' } } }],
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: name } } },
              ],
            },
          },
        },
      },
    },
  });
}

/** vCPUs of the VMs that exist, by family. */
function usedByFamily({ world: { arm } }: VirtualAks): Map<string, number> {
  const catalogue = new SkuCatalogue(arm.location);
  const used = new Map<string, number>();
  for (const { size } of arm.virtualMachines()) {
    const family = arm.familyOf(size) ?? '';
    used.set(family, (used.get(family) ?? 0) + (catalogue.find(size)?.vCPUs ?? 0));
  }
  return used;
}

it(
  'buys within quota at the first attempt, and says what is short when nothing is left',
  { timeout: 300_000 },
  async () => {
    const launches: string[] = [];
    const onRequest = (method: string, url: string): void => {
      if (method === 'PUT' && /virtualMachines\/[^/?]+\?/.test(url)) launches.push(url);
    };
    const aks = await VirtualAks.start({ seed: 'quota', scenario: 'quiet', profile: 'calm', onRequest });
    try {
      const { arm } = aks.world;
      const families = new Set(new SkuCatalogue(arm.location).all().map(({ sku }) => sku.family));
      for (const family of families) arm.setQuota(family, WALL);
      // The figures are read again.
      await aks.advance(11 * MINUTE);
      await deployApart(aks, 'web', PODS);
      await aks.advance(2 * MINUTE);
      const used = usedByFamily(aks);
      expect([...used.values()].every((cpus) => cpus <= WALL)).toBe(true);
      expect(arm.virtualMachines()).toHaveLength(PODS);
      expect(launches).toHaveLength(PODS);
      const { items: claims } = await aks.kube.list(Kinds.NodeClaim);
      const planned = claims.map((claim) => firstPlanned(claim)?.instanceType ?? '').sort();
      expect(
        arm
          .virtualMachines()
          .map(({ size }) => size)
          .sort(),
      ).toEqual(planned);

      const total = [...used.values()].reduce((sum, cpus) => sum + cpus, 0);
      arm.setQuota('cores', total + 4);
      await aks.advance(11 * MINUTE);
      await deployApart(aks, 'more', 5);
      await aks.advance(2 * MINUTE);
      // The nodes of the first deployment have room for none of these.
      expect(launches).toHaveLength(PODS + 2);
      const { items } = await aks.kube.list(Kinds.Event, { namespace: 'default' });
      const texts = items.map((event) => event.message ?? (event as { note?: string }).note ?? '');
      const limit = total + 4;
      expect(texts.join('\n')).toContain(
        `no quota is left: cores has ${limit} of ${limit} in use and 2 more are needed`,
      );
    } finally {
      await aks.stop();
    }
  },
);
