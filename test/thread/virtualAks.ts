/**
 * Test support: a whole AKS with nodewright in it under a virtual clock, without a socket. In: a seed, a scenario and a
 * profile of faults. Out: time to pass, and a fingerprint of everything that has happened.
 */
import { createHash } from 'node:crypto';
import { renderCrds } from '../../src/api/crds.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { createAzureCloudProvider } from '../../src/azure/createAzureCloudProvider.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { VirtualClock } from '../../src/clock/virtualClock.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { silentLog } from '../../src/kube/log.ts';
import { noMetrics } from '../../src/kube/metrics.ts';
import { inProcessHttpClient } from '../../src/local/arm/inProcessHttpClient.ts';
import { faultyKube } from '../../src/local/faults/faultyKube.ts';
import { applyProfile, type Profile } from '../../src/local/faults/profiles.ts';
import { SkewedClock } from '../../src/local/faults/skewedClock.ts';
import { LocalWorld } from '../../src/local/localWorld.ts';
import { installScenario, troubleWorld, type ScenarioName } from '../../src/local/scenarios/scenarios.ts';
import { defaultNodeClass, defaultPools } from '../../src/nap/defaultPools.ts';

export interface VirtualAksOptions {
  readonly seed: string;
  readonly scenario: ScenarioName;
  readonly profile: Profile;
  /** Sees every change as a line. */
  readonly onLine?: (line: string) => void;
}

/** A Monday morning. */
const START = Date.UTC(2026, 0, 5, 9);

export class VirtualAks {
  readonly clock = new VirtualClock(START, { quietTurns: 2 });
  readonly world: LocalWorld;
  private readonly history = createHash('sha256');
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>[] = [];
  private readonly quiet: (() => void)[] = [];
  private recorded = 0;

  private constructor({ seed, onLine }: VirtualAksOptions) {
    const { clock } = this;
    this.world = new LocalWorld({
      clock,
      random: new SeededRandom(`world of ${seed}`),
      faultRandom: new SeededRandom(`faults of ${seed}`),
      log: silentLog,
      leasePeriod: 30_000,
    });
    this.world.onChange((change) => {
      const line = JSON.stringify({ at: clock.now(), ...change });
      this.recorded += 1;
      this.history.update(line);
      onLine?.(line);
    });
  }

  static async start(options: VirtualAksOptions): Promise<VirtualAks> {
    const aks = new VirtualAks(options);
    await aks.begin(options);
    return aks;
  }

  get kube(): Kube {
    return this.world.kube;
  }

  /** How much has happened. */
  get changes(): number {
    return this.recorded;
  }

  advance(milliseconds: number): Promise<void> {
    return this.clock.advance(milliseconds);
  }

  /** Of every change of the cluster and of Azure until now, with its moment, to the byte. */
  fingerprint(): string {
    return this.history.copy().digest('hex');
  }

  async stop(): Promise<void> {
    for (const end of this.quiet) end();
    this.stopping.abort();
    let ended = false;
    const all = Promise.allSettled(this.running).finally(() => {
      ended = true;
    });
    // Stopping may take time; let it pass.
    await Promise.all([all, this.clock.runUntil(() => ended)]);
    await this.world.close();
  }

  private async begin({ seed, scenario, profile }: VirtualAksOptions): Promise<void> {
    const { world, clock } = this;
    const { arm, faults } = world;
    for (const crd of renderCrds()) await world.kube.create(Kinds.CustomResourceDefinition, crd);
    await world.kube.create(Kinds.AKSNodeClass, defaultNodeClass);
    for (const pool of defaultPools) await world.kube.create(Kinds.NodePool, pool);
    await installScenario(scenario, world.kube);
    const common = {
      kube: faultyKube(world.kube, faults),
      clock: new SkewedClock(clock, faults),
      random: new SeededRandom(`engine of ${seed}`),
      log: silentLog,
    };
    const cloud = await createAzureCloudProvider({
      endpoint: arm.endpoint,
      httpClient: inProcessHttpClient(arm),
      credential: arm.credential,
      subscriptionId: arm.subscriptionId,
      location: arm.location,
      nodeResourceGroup: arm.nodeResourceGroup,
      clusterName: 'virtual',
      clusterEndpoint: 'https://virtual.invalid',
      vnetSubnetId: arm.network.subnetId,
      ...common,
    });
    const { nodeClass, leftovers } = cloud;
    const batches = { batchIdle: 1_000, batchMax: 10_000 };
    const engine = createEngine({ ...common, cloud, nodeClass, leftovers, metrics: noMetrics, ...batches });
    this.quiet.push(applyProfile(profile, faults), troubleWorld(scenario, faults));
    this.running.push(world.run(this.stopping.signal), engine.run(this.stopping.signal));
  }
}
