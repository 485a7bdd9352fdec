import { expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Annotations } from '../../src/api/labels.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

const MINUTE = 60_000;
const PODS = 12;

/** One node for each pod, so that there are many purchases to compare. */
async function deployApart(aks: VirtualAks): Promise<void> {
  const labels = { app: 'apart' };
  await aks.kube.create(Kinds.Deployment, {
    metadata: { name: 'apart', namespace: 'default' },
    spec: {
      replicas: PODS,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } },
              ],
            },
          },
        },
      },
    },
  });
}

it('launches the offerings that the plan chose, level over zones', { timeout: 120_000 }, async () => {
  const aks = await VirtualAks.start({ seed: 'plan', scenario: 'quiet', profile: 'calm' });
  try {
    await deployApart(aks);
    await aks.advance(2 * MINUTE);
    const { items: claims } = await aks.kube.list(Kinds.NodeClaim);
    const planned = new Map(
      claims.map(({ metadata }) => [
        `aks-${metadata.name}`,
        metadata.annotations?.[Annotations.plannedOfferings]?.split(',')[0],
      ]),
    );
    expect(planned.size).toBe(PODS);
    const { location } = aks.world.arm;
    const bought = new Map(
      aks.world.arm
        .virtualMachines()
        .map(({ name, size, zone, priority }) => [
          name,
          `${size}/${location}-${zone}/${priority === 'Spot' ? 'spot' : 'on-demand'}`,
        ]),
    );
    expect(bought).toEqual(planned);
    const zones = [...bought.values()].map((offering) => offering.split('/')[1]);
    for (const zone of new Set(zones)) expect(zones.filter((each) => each === zone)).toHaveLength(PODS / 3);
  } finally {
    await aks.stop();
  }
});
