/** Rules between options. A rule is skipped when an option that it reads could not be parsed. */
import type { OptionKey, Options } from './optionTable.ts';

export interface CrossProblem {
  readonly option: OptionKey;
  readonly sentence: string;
}

type Rule = (options: Partial<Options>) => CrossProblem | undefined;

const MACHINE_MODES: readonly string[] = ['aksmachineapi', 'aksmachineapiheaderbatch'];

function usesMachines(options: Partial<Options>): boolean {
  return options.provisionMode !== undefined && MACHINE_MODES.includes(options.provisionMode);
}

/** `missing` is true only for an option that was parsed and is empty, not for one that could not be parsed. */
function missing(options: Partial<Options>, key: OptionKey): boolean {
  return key in options && (options[key] === undefined || options[key] === '');
}

/** In other modes AKS configures nodes from the cluster's settings. */
const scriptOnly = (option: OptionKey): Rule => {
  return (options) => {
    const { provisionMode = 'aksscriptless', [option]: value } = options;
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
    if (provisionMode === 'aksscriptless' || !isGiven) return undefined;
    return {
      option,
      sentence: `has no effect in provision mode ${provisionMode}; remove it, and set it for the cluster in AKS`,
    };
  };
};

const rules: readonly Rule[] = [
  (options) =>
    options.networkPlugin === 'none' && options.networkPluginMode === 'overlay'
      ? { option: 'networkPluginMode', sentence: 'must be empty with network plugin none; set it to an empty text' }
      : undefined,
  (options) =>
    options.provisionMode === 'bootstrappingclient' && missing(options, 'nodeBootstrappingServerUrl')
      ? { option: 'nodeBootstrappingServerUrl', sentence: 'is required with provision mode bootstrappingclient' }
      : undefined,
  (options) =>
    usesMachines(options) && missing(options, 'aksMachinesPoolName')
      ? { option: 'aksMachinesPoolName', sentence: `is required with provision mode ${options.provisionMode}` }
      : undefined,
  (options) =>
    usesMachines(options) && options.useSig === false
      ? { option: 'useSig', sentence: `must be true with provision mode ${options.provisionMode}` }
      : undefined,
  (options) =>
    (usesMachines(options) || options.manageExistingAksMachines === true) && missing(options, 'clusterResourceGroup')
      ? { option: 'clusterResourceGroup', sentence: 'is required where AKS machines are created or managed' }
      : undefined,
  (options) =>
    options.useSig === true && missing(options, 'sigSubscriptionId')
      ? { option: 'sigSubscriptionId', sentence: 'is required with --use-sig' }
      : undefined,
  (options) =>
    options.useSig === true &&
    options.provisionMode !== undefined &&
    !usesMachines(options) &&
    missing(options, 'sigAccessTokenServerUrl')
      ? {
          option: 'sigAccessTokenServerUrl',
          sentence: `is required with --use-sig in provision mode ${options.provisionMode}`,
        }
      : undefined,
  (options) =>
    usesMachines(options) && (options.capacityReservationGroups ?? []).length > 0
      ? {
          option: 'capacityReservationGroups',
          sentence: `has no effect in provision mode ${options.provisionMode}: AKS machines do not draw on reservations; remove it`,
        }
      : undefined,
  scriptOnly('nodeHttpProxy'),
  scriptOnly('nodeHttpsProxy'),
  scriptOnly('nodeNoProxy'),
  scriptOnly('nodeTrustedCaFile'),
  ({ providerBatchIdleDuration: idle, providerBatchMaxDuration: maximum }) =>
    idle !== undefined && maximum !== undefined && maximum.compare(idle) < 0
      ? {
          option: 'providerBatchMaxDuration',
          sentence: `"${maximum.toString()}" is shorter than --provider-batch-idle-duration ("${idle.toString()}"); allowed is at least that`,
        }
      : undefined,
  (options) =>
    options.armCloud !== undefined && options.azureEnvironmentFilepath !== undefined
      ? {
          option: 'armCloud',
          sentence: `"${options.armCloud}" cannot be combined with AZURE_ENVIRONMENT_FILEPATH; set one of the two`,
        }
      : undefined,
  (options) =>
    options.metricsPort !== undefined && options.metricsPort !== 0 && options.metricsPort === options.healthProbePort
      ? {
          option: 'healthProbePort',
          sentence: `"${options.healthProbePort}" is already the metrics port; the two need different ports`,
        }
      : undefined,
];

export function crossProblems(options: Partial<Options>): CrossProblem[] {
  return rules.map((rule) => rule(options)).filter((problem) => problem !== undefined);
}
