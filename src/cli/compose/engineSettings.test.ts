import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../errors/thrown.ts';
import { gateTable } from '../../options/featureGates.ts';
import { optionEntries, type OptionKey, type Options } from '../../options/optionTable.ts';
import { parseOptions } from '../../options/parseOptions.ts';
import { azureOptionsOf, engineSettings, processSettings } from './engineSettings.ts';
import { requiredOptions, SUBNET } from '../../../test/fixtures/engine/requiredOptions.ts';

const UUID = '123e4567-e89b-12d3-a456-426614174000';

/** Another value than the default or the one above, for every option that must act. */
const others: Partial<Record<OptionKey, string>> = {
  dashboardPort: '8082',
  tracesEndpoint: 'http://collector:4318/v1/traces',
  ledgerDir: '/var/lib/ledger',
  ledgerMaxSize: '1Gi',
  ledgerMaxAge: '1h',
  clusterName: 'other',
  clusterEndpoint: 'https://other.example.org',
  kubeletBootstrapToken: 'other.0123456789abcdef',
  systemNamespace: 'platform',
  subscriptionId: 'other',
  tenantId: 'tenant',
  location: 'eastus',
  nodeResourceGroup: 'MC_other',
  armCloud: 'AzureChinaCloud',
  azureEnvironmentFilepath: '/etc/cloud.json',
  additionalTags: 'team=web',
  enableAzureSdkLogging: 'false',
  vmMemoryOverheadPercent: '0.1',
  linuxAdminUsername: 'other',
  sshPublicKey: 'ssh-ed25519 BBBB',
  nodeIdentities: 'a',
  capacityReservationGroups:
    '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/paid',
  nodeHttpProxy: 'http://proxy:3128',
  nodeHttpsProxy: 'http://proxy:3129',
  nodeNoProxy: '10.0.0.0/8',
  nodeTrustedCaFile: '/etc/ca.pem',
  kubeletIdentityClientId: UUID,
  nodeOsDiskEncryptionSetId: '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/diskEncryptionSets/d',
  networkPlugin: 'none',
  networkPluginMode: '',
  networkDataplane: 'azure',
  networkPolicy: 'calico',
  vnetSubnetId: `${SUBNET}2`,
  vnetGuid: UUID,
  dnsServiceIp: '10.0.0.10',
  cloudProvider: 'kwok',
  instanceTypesFilePath: '/types.json',
  batchIdleDuration: '2s',
  batchMaxDuration: '20s',
  launchTimeout: '1m',
  registrationTimeout: '1m',
  preferencePolicy: 'Ignore',
  minValuesPolicy: 'BestEffort',
  nodeOverheadCost: '0.1',
  maxPodsSharePerNode: '0.5',
  placementHints: 'off',
  placementHintSchedulers: 'default-scheduler,mine',
  featureGates: 'NodeRepair=true',
  schedulerConfig:
    '{"podTopologySpread":{"defaultConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]}}',
  logLevel: 'debug',
  logOutputPaths: 'stderr',
  logErrorOutputPaths: 'stdout',
  metricsPort: '9',
  healthProbePort: '10',
  enableProfiling: 'true',
  disableClusterStateObservability: 'true',
  kubeClientQps: '1',
  kubeClientBurst: '1',
  disableLeaderElection: 'true',
  leaderElectionName: 'other',
  leaderElectionNamespace: 'other',
  disableControllerWarmup: 'false',
  memoryLimit: '1Gi',
  clusterResourceGroup: 'group',
  provisionMode: 'bootstrappingclient',
  nodeBootstrappingServerUrl: 'https://bootstrapping.example.org',
  aksMachinesPoolName: 'machines',
  manageExistingAksMachines: 'true',
  providerBatchIdleDuration: '2s',
  providerBatchMaxDuration: '7s',
  providerBatchMaxSize: '20',
  useSig: 'true',
  sigSubscriptionId: 'galleries',
  sigAccessTokenServerUrl: 'https://tokens.example.org',
};

/** What an option cannot be set without. */
const companions: Partial<Record<OptionKey, Readonly<Record<string, string>>>> = {
  ledgerMaxSize: { LEDGER_DIR: '/var/lib/ledger' },
  ledgerMaxAge: { LEDGER_DIR: '/var/lib/ledger' },
  networkPlugin: { NETWORK_PLUGIN_MODE: '' },
  provisionMode: { NODEBOOTSTRAPPING_SERVER_URL: 'https://bootstrapping.example.org' },
  manageExistingAksMachines: { ARM_RESOURCE_GROUP: 'group' },
  useSig: { SIG_SUBSCRIPTION_ID: 'galleries', SIG_ACCESS_TOKEN_SERVER_URL: 'https://tokens.example.org' },
};

const settingsOf = (options: Options): string =>
  JSON.stringify([engineSettings(options), azureOptionsOf(options), processSettings(options)]);
const read = (environment: Readonly<Record<string, string>>) =>
  parseOptions({ flags: {}, environment: { ...requiredOptions, ...environment } });

describe('every option', () => {
  it.each(optionEntries().filter(([, { inactive }]) => inactive === undefined))('%s acts', (key, definition) => {
    const other = others[key];
    expect(other, 'an option needs another value to be tested with').toBeDefined();
    const companion = companions[key] ?? {};
    const before = settingsOf(read(companion).options);
    expect(settingsOf(read({ ...companion, [definition.env]: other ?? '' }).options)).not.toBe(before);
  });

  const inactive = optionEntries().filter(([, definition]) => definition.inactive !== undefined);
  it.each(inactive)('%s says why it does not act', (_key, { env, inactive: why, kind }) => {
    const texts = ['true', 'false', 'https://a.b', 'bootstrappingclient', '7', '3s'].filter(
      (text) => 'value' in kind.parse(text, 'environment'),
    );
    const said = texts.flatMap((text) => {
      try {
        return read({ [env]: text }).warnings;
      } catch (error) {
        return [messageOf(error)];
      }
    });
    expect(said.join('\n')).toContain(env);
    expect(said.join('\n')).toContain(why?.because ?? '');
  });
});

/** Names that a file reads from objects: `settings.name`, `{ name } = settings` and parameters that take it apart. */
function namesRead(file: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) names.push(node.name.text);
    if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
      names.push((node.propertyName ?? node.name).getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023, true));
  return names;
}

const namesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, member]) => [name, ...namesOf(member)])
    : [];

describe('every setting that options become', () => {
  const root = join(import.meta.dirname, '../..');
  const environment = Object.fromEntries(
    optionEntries().flatMap(([key, { env }]) => (others[key] === undefined ? [] : [[env, others[key]]])),
  );
  // Both forms of what only one provider, or only one way of choosing a cloud, has.
  const { options } = read({
    ...environment,
    CLOUD_PROVIDER: 'azure',
    ARM_CLOUD: '',
    PLACEMENT_HINTS: 'auto',
    PROVISION_MODE: 'aksscriptless',
  });
  const { additionalTags: _free, ...azure } = azureOptionsOf(options);
  const settings = [engineSettings({ ...options, schedulerConfig: { defaultConstraints: [] } }), azure];
  const names = new Set(
    namesOf([...settings, processSettings(options)].reduce((all, one) => ({ ...all, ...one }), {})),
  );

  it('is read by the code that it is for', { timeout: 120_000 }, () => {
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (file) =>
        file.endsWith('.ts') && !file.endsWith('.test.ts') && !/engineSettings\.ts$|^options\/|^local\//.test(file),
    );
    const found = new Set(files.flatMap((file) => namesRead(join(root, file))));
    expect(names.size).toBeGreaterThan(60);
    expect([...names].filter((name) => !found.has(name))).toEqual([]);
  });
});

describe('every feature gate', () => {
  const gates = Object.entries(gateTable);
  it.each(gates)('%s acts', (name, gate) => {
    const { options } = read({ FEATURE_GATES: `${name}=${!gate.default}` });
    expect(settingsOf(options)).not.toBe(settingsOf(read({}).options));
  });
});
