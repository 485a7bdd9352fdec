import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNodewrightError } from '../errors/nodewrightError.ts';
import { parseOptions, printableOptions, secretValues } from './parseOptions.ts';
import { optionEntries } from './optionTable.ts';
import { requiredOptions, SUBNET } from '../../test/fixtures/engine/requiredOptions.ts';

function parse(environment: Record<string, string | undefined>, flags: Record<string, string> = {}) {
  return parseOptions({ flags, environment: { ...requiredOptions, ...environment } });
}

function problems(environment: Record<string, string | undefined>, flags: Record<string, string> = {}): string[] {
  try {
    parse(environment, flags);
  } catch (error) {
    if (isNodewrightError(error, 'InvalidOptions'))
      return error.data.problems.map(({ option, sentence }) => `${option}: ${sentence}`);
    throw error;
  }
  return [];
}

describe('the cloud provider kwok', () => {
  it('needs nothing of Azure', () => {
    const { options } = parseOptions({ flags: { 'cloud-provider': 'kwok' }, environment: {} });
    expect(options).toMatchObject({ cloudProvider: 'kwok', clusterName: '', metricsPort: 8080 });
  });

  it('still checks options that are given', () => {
    const flags = { 'cloud-provider': 'kwok', 'metrics-port': 'many' };
    expect(() => parseOptions({ flags, environment: {} })).toThrow(/metrics-port/);
  });

  it('refuses other providers', () => {
    expect(() => parseOptions({ flags: { 'cloud-provider': 'aws' }, environment: {} })).toThrow(/cloud-provider/);
  });
});

describe('defaults', () => {
  it('are those of upstream', () => {
    const { options, warnings } = parse({});
    expect(warnings).toEqual([]);
    expect(JSON.parse(JSON.stringify(printableOptions(options)))).toMatchInlineSnapshot(`
      {
        "additionalTags": {},
        "batchIdleDuration": "1s",
        "batchMaxDuration": "10s",
        "capacityReservationGroups": [],
        "cloudProvider": "azure",
        "clusterEndpoint": "https://api.example.org:443",
        "clusterName": "cluster",
        "cpuRequests": 1000,
        "disableClusterStateObservability": false,
        "disableControllerWarmup": true,
        "disableLeaderElection": false,
        "enableAzureSdkLogging": true,
        "enableProfiling": false,
        "featureGates": {
          "capacityBuffer": false,
          "nodeOverlay": false,
          "nodeRepair": false,
          "reservedCapacity": true,
          "spotToSpotConsolidation": false,
          "staticCapacity": false,
        },
        "healthProbePort": 8081,
        "ignoreDraRequests": true,
        "karpenterService": "",
        "kubeClientBurst": 300,
        "kubeClientQps": 200,
        "kubeletBootstrapToken": "<hidden>",
        "launchTimeout": "5m0s",
        "leaderElectionName": "karpenter-leader-election",
        "ledgerMaxAge": "168h0m0s",
        "ledgerMaxSize": 104857600,
        "linuxAdminUsername": "azureuser",
        "location": "westeurope",
        "logErrorOutputPaths": [
          "stderr",
        ],
        "logLevel": "info",
        "logOutputPaths": [
          "stdout",
        ],
        "manageExistingAksMachines": false,
        "maxPodsSharePerNode": 1,
        "metricsPort": 8080,
        "minValuesPolicy": "Strict",
        "networkDataplane": "cilium",
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "networkPolicy": "",
        "nodeIdentities": [],
        "nodeNoProxy": [],
        "nodeOverheadCost": 0,
        "nodeResourceGroup": "MC_group",
        "placementHintSchedulers": [
          "default-scheduler",
        ],
        "placementHints": "auto",
        "preferencePolicy": "Respect",
        "providerBatchIdleDuration": "1s",
        "providerBatchMaxDuration": "5s",
        "providerBatchMaxSize": 50,
        "provisionMode": "aksscriptless",
        "registrationTimeout": "15m0s",
        "schedulerConfig": {
          "defaultConstraints": [],
        },
        "sshPublicKey": "<hidden>",
        "subscriptionId": "subscription",
        "useSig": false,
        "vmMemoryOverheadPercent": 0.075,
        "vnetSubnetId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/network/subnets/nodes",
      }
    `);
  });

  it('leave optional settings undefined', () => {
    const { options } = parse({});
    expect(options.memoryLimit).toBeUndefined();
    expect(options.vnetGuid).toBeUndefined();
    expect(options.leaderElectionNamespace).toBeUndefined();
  });

  it('are parsed by their own kinds', () => {
    for (const [key, definition] of optionEntries()) {
      if (definition.default === undefined) continue;
      expect({ key, ...definition.kind.parse(definition.default, 'default') }).not.toHaveProperty('problems');
    }
  });

  it('have unique names', () => {
    const names = optionEntries().flatMap(([, { env, flag, fallbackEnv }]) => [env, flag, fallbackEnv]);
    const given = names.filter((name) => name !== undefined);
    expect(new Set(given).size).toBe(given.length);
  });
});

describe('sources', () => {
  it('lets a flag override its variable', () => {
    const { options } = parse({ METRICS_PORT: '1', LOG_LEVEL: 'error' }, { 'metrics-port': '2' });
    expect([options.metricsPort, options.logLevel]).toEqual([2, 'error']);
  });

  it('ignores a malformed variable that a flag overrides', () => {
    expect(problems({ METRICS_PORT: 'x' }, { 'metrics-port': '2' })).toEqual([]);
  });

  it('treats an empty variable as unset, except where empty is a value', () => {
    const { options } = parse({ METRICS_PORT: '', BATCH_MAX_DURATION: ' ', LOG_LEVEL: '', NETWORK_DATAPLANE: '' });
    expect([options.metricsPort, options.batchMaxDuration.toString(), options.logLevel]).toEqual([8080, '10s', 'info']);
    expect(options.networkDataplane).toBe('');
  });

  it('reads fallback variables, the first one wins', () => {
    const fallback = parse({ AZURE_SUBSCRIPTION_ID: '', ARM_SUBSCRIPTION_ID: ' second ', ARM_TENANT_ID: 'tenant' });
    expect([fallback.options.subscriptionId, fallback.options.tenantId]).toEqual(['second', 'tenant']);
    expect(parse({ ARM_SUBSCRIPTION_ID: 'second' }).options.subscriptionId).toBe('subscription');
  });

  it.each([
    ['environment', '1', true],
    ['environment', 'T', true],
    ['environment', 'False', false],
    ['flag', 'true', true],
    ['flag', 'false', false],
  ])('reads booleans of the %s: %s', (source, text, expected) => {
    const { options } = source === 'flag' ? parse({}, { 'enable-profiling': text }) : parse({ ENABLE_PROFILING: text });
    expect(options.enableProfiling).toBe(expected);
  });
});

describe('values', () => {
  it.each([
    ['MEMORY_LIMIT', '1Gi', 'memoryLimit', 1_073_741_824],
    ['MEMORY_LIMIT', '500000000', 'memoryLimit', 500_000_000],
    ['MEMORY_LIMIT', '0', 'memoryLimit', undefined],
    ['CPU_REQUESTS', '0', 'cpuRequests', 1000],
    ['CPU_REQUESTS', '-5', 'cpuRequests', 1000],
    ['CPU_REQUESTS', '2500', 'cpuRequests', 2500],
    ['VM_MEMORY_OVERHEAD_PERCENT', '1e-2', 'vmMemoryOverheadPercent', 0.01],
    ['ARM_CLOUD', 'AZUREUSGOVERNMENT', 'armCloud', 'AzureUSGovernmentCloud'],
    ['NODE_IDENTITIES', 'a, b,,', 'nodeIdentities', ['a', 'b']],
    ['ADDITIONAL_TAGS', 'team=web, cost=a=b', 'additionalTags', { team: 'web', cost: 'a=b' }],
    ['DNS_SERVICE_IP', 'fd00::a', 'dnsServiceIp', 'fd00::a'],
    ['VNET_SUBNET_ID', SUBNET.toUpperCase(), 'vnetSubnetId', SUBNET.toUpperCase()],
  ] as const)('%s=%s', (env, text, key, expected) => {
    expect(parse({ [env]: text }).options[key]).toEqual(expected);
  });

  it('reads Go durations', () => {
    expect(parse({ BATCH_MAX_DURATION: '1m30s' }).options.batchMaxDuration.milliseconds).toBe(90_000);
  });
});

describe('mistakes', () => {
  it.each([
    [
      'METRICS_PORT',
      '70000',
      'METRICS_PORT: "70000" is too large; allowed is a port from 1 to 65535, or 0 for any free one',
    ],
    [
      'METRICS_PORT',
      '80x',
      'METRICS_PORT: "80x" is not a whole number; allowed is a port from 1 to 65535, or 0 for any free one',
    ],
    ['ENABLE_PROFILING', 'yes', 'ENABLE_PROFILING: "yes" is not a yes-or-no value; allowed is true or false'],
    [
      'BATCH_IDLE_DURATION',
      '10',
      'BATCH_IDLE_DURATION: "10" cannot be read; allowed is a duration such as 300ms, 10s or 1m30s, at least 0s',
    ],
    [
      'BATCH_IDLE_DURATION',
      '-1s',
      'BATCH_IDLE_DURATION: "-1s" is too short; allowed is a duration such as 300ms, 10s or 1m30s, at least 0s',
    ],
    ['LOG_LEVEL', 'INFO', 'LOG_LEVEL: "INFO" is not one of the choices; allowed is debug, info, error'],
    ['LOG_OUTPUT_PATHS', ',', 'LOG_OUTPUT_PATHS: "," names nothing; allowed is one or more items separated by commas'],
    [
      'MEMORY_LIMIT',
      'lots',
      'MEMORY_LIMIT: "lots" cannot be read; allowed is a number of bytes or a quantity such as 1Gi; -1 for no limit',
    ],
    ['KUBE_CLIENT_QPS', '0', 'KUBE_CLIENT_QPS: "0" is too small; allowed is a whole number of at least 1'],
    [
      'PROVIDER_BATCH_MAX_SIZE',
      '51',
      'PROVIDER_BATCH_MAX_SIZE: "51" is too large; allowed is a whole number from 1 to 50',
    ],
    [
      'VM_MEMORY_OVERHEAD_PERCENT',
      '-0.1',
      'VM_MEMORY_OVERHEAD_PERCENT: "-0.1" is too small; allowed is a number of at least 0',
    ],
    [
      'CLUSTER_ENDPOINT',
      'api.example.org:443',
      'CLUSTER_ENDPOINT: "api.example.org:443" is not an absolute URL; allowed is an absolute URL with a host, such as https://example.org',
    ],
    [
      'LINUX_ADMIN_USERNAME',
      '1st',
      'LINUX_ADMIN_USERNAME: "1st" is not a Linux user name that Azure takes; allowed is a letter followed by letters, digits, "-" or "_", at most 32 characters',
    ],
    [
      'LINUX_ADMIN_USERNAME',
      'a'.repeat(33),
      `LINUX_ADMIN_USERNAME: "${'a'.repeat(33)}" is not a Linux user name that Azure takes; allowed is a letter followed by letters, digits, "-" or "_", at most 32 characters`,
    ],
    [
      'DNS_SERVICE_IP',
      '10.0.0.256',
      'DNS_SERVICE_IP: "10.0.0.256" is not an IP address; allowed is an IPv4 or IPv6 address, or empty',
    ],
    [
      'VNET_GUID',
      '123',
      'VNET_GUID: "123" is not a UUID; allowed is a UUID such as 123e4567-e89b-12d3-a456-426614174000, or empty',
    ],
    [
      'VNET_SUBNET_ID',
      '/subscriptions/s',
      'VNET_SUBNET_ID: "/subscriptions/s" is not the resource id of a subnet; allowed is /subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.Network/virtualNetworks/<network>/subnets/<subnet>',
    ],
    [
      'NODE_OSDISK_DISKENCRYPTIONSET_ID',
      '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d',
      'NODE_OSDISK_DISKENCRYPTIONSET_ID: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d" is not the resource id of a disk encryption set; allowed is /subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.Compute/diskEncryptionSets/<name>, or empty',
    ],
    [
      'ARM_CLOUD',
      'AzureGermanCloud',
      'ARM_CLOUD: "AzureGermanCloud" is not a known Azure cloud; allowed is AzurePublicCloud, AzureUSGovernmentCloud or AzureChinaCloud, in any case, or empty',
    ],
    [
      'AZURE_ENVIRONMENT_FILEPATH',
      'cloud.json',
      'AZURE_ENVIRONMENT_FILEPATH: "cloud.json" is not an absolute path; allowed is an absolute path, or empty',
    ],
  ])('%s=%s', (env, text, message) => {
    expect(problems({ [env]: text })).toEqual([message]);
  });

  it('lists every mistake of every option at once, and names the flag when the flag was wrong', () => {
    const found = problems(
      { CLUSTER_NAME: undefined, METRICS_PORT: 'a', ADDITIONAL_TAGS: 'x,A=1,a=2,b/c=3' },
      { 'health-probe-port': 'b', 'enable-profiling': '1' },
    );
    expect(found).toMatchInlineSnapshot(`
      [
        "--cluster-name (CLUSTER_NAME): is required; allowed is any text that is not empty",
        "ADDITIONAL_TAGS: "x,A=1,a=2,b/c=3" has "x" without a value; names the tag "a" more than once; has a forbidden character in the tag name "b/c"; allowed is name=value pairs separated by commas; names of up to 512 characters without any of <>%&\\?/ and unique whatever their case, values of up to 256 characters",
        "METRICS_PORT: "a" is not a whole number; allowed is a port from 1 to 65535, or 0 for any free one",
        "--health-probe-port: "b" is not a whole number; allowed is a port from 1 to 65535, or 0 for any free one",
        "--enable-profiling: "1" is not a yes-or-no value; allowed is true or false",
      ]
    `);
  });

  it('never shows a secret', () => {
    const secret = 'do-not-show-me';
    const { options } = parse({ KUBELET_BOOTSTRAP_TOKEN: secret, SSH_PUBLIC_KEY: secret });
    expect(JSON.stringify(printableOptions(options))).not.toContain(secret);
    expect(secretValues(options)).toEqual([secret, secret]);
    expect(problems({ KUBELET_BOOTSTRAP_TOKEN: secret }, { 'ssh-public-key': '  ' }).join()).not.toContain(secret);
    expect(problems({}, { 'ssh-public-key': '  ' })).toEqual([
      '--ssh-public-key: <hidden> is empty; allowed is any text that is not empty',
    ]);
  });
});

describe('rules between options', () => {
  const machines = { PROVISION_MODE: 'aksmachineapi' };
  it.each([
    [
      'plugin none with overlay',
      { NETWORK_PLUGIN: 'none' },
      ['--network-plugin-mode (NETWORK_PLUGIN_MODE): must be empty with network plugin none; set it to an empty text'],
    ],
    ['plugin none without mode', { NETWORK_PLUGIN: 'none', NETWORK_PLUGIN_MODE: '' }, []],
    [
      'bootstrapping without a server',
      { PROVISION_MODE: 'bootstrappingclient' },
      [
        '--nodebootstrapping-server-url (NODEBOOTSTRAPPING_SERVER_URL): is required with provision mode bootstrappingclient',
      ],
    ],
    [
      'bootstrapping with a malformed server',
      { PROVISION_MODE: 'bootstrappingclient', NODEBOOTSTRAPPING_SERVER_URL: 'x' },
      [
        'NODEBOOTSTRAPPING_SERVER_URL: "x" is not an absolute URL; allowed is an absolute URL with a host, such as https://example.org, or empty',
      ],
    ],
    [
      'bootstrapping with a server',
      { PROVISION_MODE: 'bootstrappingclient', NODEBOOTSTRAPPING_SERVER_URL: 'http://x' },
      [],
    ],
    [
      'machines with nothing',
      machines,
      [
        '--aks-machines-pool-name (AKS_MACHINES_POOL_NAME): is required with provision mode aksmachineapi',
        '--use-sig (USE_SIG): must be true with provision mode aksmachineapi',
        'ARM_RESOURCE_GROUP: is required where AKS machines are created or managed',
      ],
    ],
    [
      'machines with galleries need no token server',
      {
        ...machines,
        AKS_MACHINES_POOL_NAME: 'aksmanagedap',
        USE_SIG: 'true',
        ARM_RESOURCE_GROUP: 'g',
        SIG_SUBSCRIPTION_ID: 's',
      },
      [],
    ],
    [
      'reservations for machines',
      {
        ...machines,
        AKS_MACHINES_POOL_NAME: 'aksmanagedap',
        USE_SIG: 'true',
        ARM_RESOURCE_GROUP: 'g',
        SIG_SUBSCRIPTION_ID: 's',
        CAPACITY_RESERVATION_GROUPS:
          '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c',
      },
      [
        '--capacity-reservation-groups (CAPACITY_RESERVATION_GROUPS): has no effect in provision mode aksmachineapi: AKS machines do not draw on reservations; remove it',
      ],
    ],
    [
      'what only our own script tells nodes',
      {
        PROVISION_MODE: 'bootstrappingclient',
        NODEBOOTSTRAPPING_SERVER_URL: 'http://x',
        NODE_HTTP_PROXY: 'http://proxy:3128',
        NODE_NO_PROXY: '10.0.0.0/8',
        NODE_TRUSTED_CA_FILE: '/etc/ca.pem',
      },
      [
        '--node-http-proxy (NODE_HTTP_PROXY): has no effect in provision mode bootstrappingclient; remove it, and set it for the cluster in AKS',
        '--node-no-proxy (NODE_NO_PROXY): has no effect in provision mode bootstrappingclient; remove it, and set it for the cluster in AKS',
        '--node-trusted-ca-file (NODE_TRUSTED_CA_FILE): has no effect in provision mode bootstrappingclient; remove it, and set it for the cluster in AKS',
      ],
    ],
    [
      'galleries for VMs',
      { USE_SIG: 'true' },
      [
        '--sig-subscription-id (SIG_SUBSCRIPTION_ID): is required with --use-sig',
        '--sig-access-token-server-url (SIG_ACCESS_TOKEN_SERVER_URL): is required with --use-sig in provision mode aksscriptless',
      ],
    ],
    [
      'existing machines',
      { MANAGE_EXISTING_AKS_MACHINES: 'true' },
      ['ARM_RESOURCE_GROUP: is required where AKS machines are created or managed'],
    ],
    [
      'batch order',
      { PROVIDER_BATCH_IDLE_DURATION: '6s' },
      [
        '--provider-batch-max-duration (PROVIDER_BATCH_MAX_DURATION): "5s" is shorter than --provider-batch-idle-duration ("6s"); allowed is at least that',
      ],
    ],
    [
      'two clouds',
      { ARM_CLOUD: 'AzureCloud', AZURE_ENVIRONMENT_FILEPATH: '/cloud.json' },
      ['ARM_CLOUD: "AzurePublicCloud" cannot be combined with AZURE_ENVIRONMENT_FILEPATH; set one of the two'],
    ],
    [
      'same ports',
      { METRICS_PORT: '9', HEALTH_PROBE_PORT: '9' },
      ['--health-probe-port (HEALTH_PROBE_PORT): "9" is already the metrics port; the two need different ports'],
    ],
    ['free ports', { METRICS_PORT: '0', HEALTH_PROBE_PORT: '0' }, []],
  ])('%s', (_name, environment, expected) => {
    // Options refused by this version have their own test.
    expect(problems(environment).filter((problem) => !problem.includes('is refused'))).toEqual(expected);
  });
});

it('refuses unsupported options, and reports those without effect', () => {
  expect(problems({ IGNORE_DRA_REQUESTS: 'false' })).toEqual([
    'IGNORE_DRA_REQUESTS: "false" is refused: dynamic resource allocation is not supported',
  ]);
  expect(parse({ CPU_REQUESTS: '4000', PROVIDER_BATCH_MAX_SIZE: '50', KARPENTER_SERVICE: '' }).warnings).toEqual([
    'CPU_REQUESTS: "4000" has no effect: plans are computed on one thread, however many cores there are',
  ]);
});

describe('feature gates', () => {
  it('keeps the defaults of gates that are not named', () => {
    const { options, warnings } = parse({ FEATURE_GATES: ' NodeRepair = true ,NodeOverlay=1,' });
    expect(options.featureGates).toEqual({
      nodeRepair: true,
      reservedCapacity: true,
      spotToSpotConsolidation: false,
      nodeOverlay: true,
      staticCapacity: false,
      capacityBuffer: false,
    });
    expect(warnings).toEqual([]);
  });

  it('warns about unknown gates', () => {
    const { options, warnings } = parse({ FEATURE_GATES: 'Drift=true,ReservedCapacity=false' });
    expect(options.featureGates.reservedCapacity).toBe(false);
    expect(warnings).toEqual(['FEATURE_GATES knows no gate "Drift"; it is ignored']);
  });

  it.each(['NodeRepair', 'NodeRepair=', 'NodeRepair=maybe', 'Unknown=', 'NodeRepair=true;NodeOverlay=true'])(
    'refuses %s',
    (text) => {
      expect(problems({}, { 'feature-gates': text })[0]).toMatch(
        `--feature-gates: "${text}" has "${text}", which is not of the form Gate=true; allowed is`,
      );
    },
  );
});

it('warns of a memory overhead that was meant as a percentage', () => {
  expect(parse({ VM_MEMORY_OVERHEAD_PERCENT: '7.5' }).warnings).toEqual([
    'VM_MEMORY_OVERHEAD_PERCENT leaves no memory for pods at 7.5: it is a fraction, not a percentage',
  ]);
});

it('turns any text into options or a list of mistakes', () => {
  const variables = optionEntries().map(([, { env }]) => env);
  const awkward = fc.constantFrom(
    '',
    '0',
    '-1',
    '=',
    ',',
    'a=b,a=b',
    '1e999',
    '[',
    '*x',
    '{}',
    '9'.repeat(400),
    '::',
    'Never',
  );
  const text = fc.oneof(awkward, fc.string({ unit: 'binary', maxLength: 20 }));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...variables), text, { maxKeys: 10 }), (environment) => {
      for (const problem of problems(environment)) expect(problem).toMatch(/^[^:]+: /);
    }),
    { numRuns: 300 },
  );
});
