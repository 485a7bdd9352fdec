/** Controller options for the local world: those given after `--`, and those set by the world itself. */
import { Command, CommanderError, Option } from 'commander';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { optionHelpRows } from '../../options/optionText.ts';
import type { Options } from '../../options/optionTable.ts';
import { parseOptions } from '../../options/parseOptions.ts';

/** Spot notices are only handled with node repair, so it is on here. */
const GATES = 'NodeRepair=true';
/** Options that `up` sets itself, has its own flag for, or does not use. */
const DECIDED: ReadonlySet<string> = new Set(
  `cluster-name cluster-endpoint kubelet-bootstrap-token node-resource-group vnet-subnet-id
   cloud-provider instance-types-file-path ssh-public-key log-output-paths log-error-output-paths
   health-probe-port disable-leader-election leader-election-name leader-election-namespace dashboard-port
   otlp-traces-endpoint memory-limit kube-client-qps kube-client-burst`.split(/\s+/),
);
const BEFORE_THE_WORLD = {
  CLUSTER_NAME: 'local',
  CLUSTER_ENDPOINT: 'https://127.0.0.1',
  // The token created and rotated by the cluster's upkeep.
  KUBELET_BOOTSTRAP_TOKEN: 'auto',
  AZURE_SUBSCRIPTION_ID: '00000000-0000-0000-0000-000000000000',
  LOCATION: 'eastus',
  AZURE_NODE_RESOURCE_GROUP: 'MC_local_local_eastus',
  VNET_SUBNET_ID:
    '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/MC_local_local_eastus/providers/Microsoft.Network/virtualNetworks/aks-vnet/subnets/aks-subnet',
  SSH_PUBLIC_KEY: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGxvY2Fsb25seWxvY2Fsb25seWxvY2Fsb25seWxv local',
  METRICS_PORT: '0',
};

/** Parses options like `nodewright run`. The caller adds the world's addresses once it listens. */
export function worldOptions(args: readonly string[]): Options {
  const flags = readFlags(args);
  const problems = Object.keys(flags)
    .filter((name) => DECIDED.has(name))
    .map((name) => ({ option: `--${name}`, sentence: 'the local world decides this itself' }));
  if (problems.length > 0) throw new NodewrightError('UnsupportedOptions', { problems });
  const gates = flags['feature-gates'];
  const { options, warnings } = parseOptions({
    flags: { ...flags, 'feature-gates': gates === undefined ? GATES : `${GATES},${gates}` },
    environment: BEFORE_THE_WORLD,
  });
  for (const warning of warnings) console.error(`nodewright: warning: ${warning}`);
  return options;
}

function readFlags(args: readonly string[]): Readonly<Record<string, string>> {
  const command = new Command('up --').exitOverride().helpOption(false).allowExcessArguments(false);
  command.configureOutput({ writeErr: () => undefined });
  for (const { flag, placeholder } of optionHelpRows()) {
    if (flag !== undefined) command.addOption(new Option(`--${flag} ${placeholder}`));
  }
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const problems = [{ option: 'after --', sentence: error.message.replace(/^error: /, '') }];
    throw new NodewrightError('InvalidOptions', { problems }, { cause: error });
  }
  return Object.fromEntries(
    command.options
      .map((option) => [option.name(), command.getOptionValue(option.attributeName()) as unknown] as const)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}
