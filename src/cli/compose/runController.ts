/** Composition root of `nodewright run`: the loops with a real cluster and Azure. */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { createDefaultHttpClient } from '@azure/core-rest-pipeline';
import { Kinds } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { loggedHttpClient } from '../../azure/loggedHttpClient.ts';
import { createAzureCloudProvider } from '../../azure/createAzureCloudProvider.ts';
import type { Clock } from '../../clock/clock.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { defaultClusterConfig } from '../../kube/inCluster.ts';
import type { Kube } from '../../kube/kube.ts';
import { requestMetrics } from '../../kube/requestMetrics.ts';
import type { Options } from '../../options/optionTable.ts';
import { printableOptions, secretValues } from '../../options/parseOptions.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { LiveSource } from '../../dashboard/liveSource.ts';
import type { UnavailableOffering } from '../../dashboard/picture.ts';
import type { World } from '../../controllers/world/world.ts';
import { OtlpTracer } from '../../server/otlpTracer.ts';
import type { HttpEndpoint } from '../../server/httpEndpoint.ts';
import { startHealthServer } from '../../server/healthServer.ts';
import type { Log } from '../../kube/log.ts';
import { createJsonLog } from '../../server/jsonLog.ts';
import { keepLedgerInFiles } from '../../server/ledgerFiles.ts';
import { openLogSink } from '../../server/logSink.ts';
import { PrometheusMetrics } from '../../server/metrics.ts';
import { profilesGate, startMetricsServer } from '../../server/metricsServer.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { systemProblem } from '../../errors/thrown.ts';
import { buildInfo } from '../buildInfo.ts';
import { createKwokCloudProvider } from '../../kwok/createKwokCloudProvider.ts';
import { azureCloud } from './azureCloud.ts';
import { startClusterDashboard } from './clusterDashboard.ts';
import type { RunController } from './contract.ts';
import { createEngine, type EngineOptions } from './engine.ts';
import { azureOptionsOf, engineSettings, processSettings, type ProviderSettings } from './engineSettings.ts';
import { missingKinds } from './missingKinds.ts';
import { heapAdvice } from './heapLimit.ts';
import { startError } from './startError.ts';

const NODE_CLASS: Readonly<Record<Options['cloudProvider'], ResourceKind<KubeObject>>> = {
  azure: Kinds.AKSNodeClass,
  kwok: Kinds.KWOKNodeClass,
};
const CRD_POLL = 10_000;
const CRD_TIMEOUT = 120_000;

export const runController: RunController = async (options, signal) => {
  const settings = processSettings(options);
  const build = buildInfo();
  const clock = new SystemClock();
  const random = systemRandom;
  const sink = openLogSink(settings.log.logOutputPaths);
  const failureSink = openLogSink(settings.log.logErrorOutputPaths);
  const secrets = secretValues(options);
  const log = createJsonLog({ level: settings.log.logLevel, sink, failureSink, clock, commit: build.commit, secrets });
  log.debug('options', printableOptions(options));
  const advice = heapAdvice(settings.memoryLimit, getHeapStatistics().heap_size_limit);
  if (advice) log.info('the heap limit does not suit the memory limit', { ...advice });
  const metrics = new PrometheusMetrics({ build });
  const config = await defaultClusterConfig();
  const userAgent = `karpenter/${build.version}`;
  const kube = new HttpKube({
    config,
    clock,
    random,
    userAgent,
    ...settings.kubeClient,
    onAnswer: requestMetrics(metrics, config.server),
  });
  const { cloudProvider } = settings.provider;
  const neededKinds = [Kinds.NodePool, Kinds.NodeClaim, NODE_CLASS[cloudProvider]];
  let provider: Provider;
  try {
    provider = await (cloudProvider === 'kwok'
      ? kwokProvider(settings.provider, { kube, clock, log })
      : azureProvider(settings.provider, azureOptionsOf(options), {
          kube,
          clock,
          random,
          log,
          metrics,
          clusterCaPem: config.tls.ca,
        }));
    await waitForCrds({ kube, clock, log }, neededKinds, signal);
  } catch (error) {
    throw startError(error, config.server);
  }
  const ledger = new Ledger({ now: () => clock.now() });
  const endLedger = settings.ledger && keepLedgerInFiles(ledger, { ...settings.ledger, now: () => clock.now(), log });
  const { lease } = settings;
  const leaderElection = lease && {
    // Its own client: when the loops use up their rate limit, the lease is still renewed.
    kube: new HttpKube({ config, clock, random, userAgent }),
    name: lease.name,
    namespace: lease.namespace ?? config.namespace ?? 'default',
    identity: `${hostname()}_${random.uuid()}`,
  };
  const tracer =
    settings.traces && new OtlpTracer({ ...settings.traces, version: build.version, clock, random, metrics, log });
  const tracing = new AbortController();
  const traced = tracer?.run(tracing.signal);
  let world: World | undefined;
  const { unavailable, ...cloudParts } = provider;
  const engine = createEngine({
    kube,
    ...cloudParts,
    clock,
    random,
    log,
    metrics,
    ...engineSettings(options),
    ledger,
    ...(tracer && { tracer }),
    ...(leaderElection && { leaderElection }),
    onWorld: (made) => {
      world = made;
    },
  });
  const endpoints: HttpEndpoint[] = [];
  try {
    const { port, enableProfiling } = settings.metricsServer;
    const profiles = enableProfiling ? profilesGate(() => kube) : undefined;
    endpoints.push(await startMetricsServer({ port, metrics, profiles }));
    endpoints.push(
      await startHealthServer({
        ...settings.healthServer,
        liveness: [{ name: 'manager', check: () => unless(engine.healthy(), 'the loops have ended with an error') }],
        readiness: [
          {
            name: 'caches-synced',
            check: () => unless(engine.ready(), 'the first lists of the watches are not complete'),
          },
          {
            name: 'crds',
            check: async () => unless((await missingKinds(kube, neededKinds)).length === 0, 'CRDs are missing'),
          },
        ],
      }),
    );
    if (settings.dashboard && world) {
      const source = new LiveSource({ title: config.server, version: build.version, ledger, metrics });
      source.attach({ world, manager: engine, ...(unavailable && { unavailable }) });
      endpoints.push(await startClusterDashboard(source, settings.dashboard.port, { kube, clock, config }));
    }
    await engine.run(signal);
  } finally {
    tracing.abort();
    await Promise.all([...endpoints.map((endpoint) => endpoint.stop()), traced]);
    endLedger?.();
    sink.close();
    failureSink.close();
  }
};

interface Provider extends Pick<
  EngineOptions,
  'cloud' | 'nodeClass' | 'leftovers' | 'refreshes' | 'inPlaceUpdates' | 'learned'
> {
  /** Offerings that recently failed. */
  readonly unavailable?: () => readonly UnavailableOffering[];
}
type Ports = Pick<EngineOptions, 'kube' | 'clock' | 'random' | 'log' | 'metrics'>;

async function kwokProvider(settings: ProviderSettings, ports: Omit<Ports, 'random' | 'metrics'>): Promise<Provider> {
  const file = settings.instanceTypesFilePath;
  return { cloud: await createKwokCloudProvider({ ...ports, ...(file && { instanceTypesFile: file }) }) };
}

async function azureProvider(
  settings: ProviderSettings,
  options: ReturnType<typeof azureOptionsOf>,
  { clusterCaPem, ...ports }: Ports & { readonly clusterCaPem: string | undefined },
): Promise<Provider> {
  const { environment, credential } = await azureCloud(settings);
  const cloud = await createAzureCloudProvider({
    ...options,
    ...(settings.nodeTrustedCaFile && { nodeTrustedCas: await readCertificates(settings.nodeTrustedCaFile) }),
    ...ports,
    environment,
    credential,
    ...(settings.enableAzureSdkLogging && {
      httpClient: loggedHttpClient(createDefaultHttpClient(), ports.log, ports.clock),
    }),
    ...(clusterCaPem && { clusterCaPem }),
  });
  const { nodeClass, leftovers, refreshes, inPlaceUpdates, learned } = cloud;
  const unavailable = (): readonly UnavailableOffering[] => cloud.unavailableOfferings;
  return { cloud, nodeClass, leftovers, refreshes, inPlaceUpdates, learned, unavailable };
}

const TRUSTED_CAS = 'certificates for NODE_TRUSTED_CA_FILE';

/** Splits a PEM file into its certificates. */
async function readCertificates(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new NodewrightError(
      'FileUnreadable',
      { file, purpose: TRUSTED_CAS, problem: systemProblem(cause) },
      { cause },
    );
  });
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length > 0) return found;
  throw new NodewrightError('FileInvalid', { file, purpose: TRUSTED_CAS, problems: ['it has no certificate in PEM'] });
}

function unless(holds: boolean, problem: string): string | undefined {
  return holds ? undefined : problem;
}

/** The CRDs may be installed by the same release a moment later. */
async function waitForCrds(
  { kube, clock, log }: { readonly kube: Kube; readonly clock: Clock; readonly log: Log },
  needed: readonly ResourceKind<KubeObject>[],
  signal: AbortSignal,
): Promise<void> {
  const end = clock.now() + CRD_TIMEOUT;
  for (;;) {
    const crds = (await missingKinds(kube, needed)).map(({ plural, group }) => `${plural}.${group}`);
    if (crds.length === 0) return;
    if (clock.now() >= end) throw new NodewrightError('MissingCrds', { crds });
    log.info('waiting for CRDs', { crds });
    await clock.sleep(CRD_POLL, signal);
  }
}
