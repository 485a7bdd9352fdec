/** Feature gates: `NodeRepair=true,StaticCapacity=false` gives one boolean per gate, with defaults for the others. */
import type { OptionKind, ParseOutcome } from './optionDefinition.ts';
import { parseBoolean } from './optionKinds.ts';

export interface FeatureGates {
  readonly nodeRepair: boolean;
  readonly reservedCapacity: boolean;
  readonly spotToSpotConsolidation: boolean;
  readonly nodeOverlay: boolean;
  readonly staticCapacity: boolean;
  readonly capacityBuffer: boolean;
}

interface GateDefinition {
  readonly field: keyof FeatureGates;
  readonly default: boolean;
  readonly help: string;
}

/** By gate name. */
export const gateTable: Readonly<Record<string, GateDefinition>> = {
  NodeRepair: {
    field: 'nodeRepair',
    default: false,
    help: 'replace nodes whose conditions say that they have been broken for too long',
  },
  ReservedCapacity: {
    field: 'reservedCapacity',
    default: true,
    help: 'use capacity reservations before anything that costs extra',
  },
  SpotToSpotConsolidation: {
    field: 'spotToSpotConsolidation',
    default: false,
    help: 'let consolidation replace a spot node by a cheaper spot node',
  },
  NodeOverlay: { field: 'nodeOverlay', default: false, help: 'honour NodeOverlay objects (own prices and capacity)' },
  StaticCapacity: { field: 'staticCapacity', default: false, help: 'honour spec.replicas of NodePools' },
  CapacityBuffer: { field: 'capacityBuffer', default: false, help: 'keep the headroom that CapacityBuffers ask for' },
};

const defaults = Object.fromEntries(
  Object.values(gateTable).map((gate) => [gate.field, gate.default]),
) as unknown as FeatureGates;

/** The defaults in the syntax of the option. */
export const defaultGates = Object.entries(gateTable)
  .map(([name, gate]) => `${name}=${gate.default}`)
  .join(',');

export const featureGates: OptionKind<FeatureGates> = {
  placeholder: 'Gate=true,…',
  allowed: `Gate=true or Gate=false, separated by commas; gates are ${Object.keys(gateTable).join(', ')}`,
  emptyIsValue: true,
  parse: parseGates,
};

function parseGates(text: string): ParseOutcome<FeatureGates> {
  const value: { -readonly [K in keyof FeatureGates]: boolean } = { ...defaults };
  const warnings: string[] = [];
  const problems: string[] = [];
  for (const pair of text.split(',').filter((item) => item !== '')) {
    const separator = pair.indexOf('=');
    const name = (separator === -1 ? pair : pair.slice(0, separator)).trim();
    const setting = separator === -1 ? undefined : parseBoolean(pair.slice(separator + 1).trim());
    const gate = Object.hasOwn(gateTable, name) ? gateTable[name] : undefined;
    if (setting === undefined) problems.push(`has "${pair.trim()}", which is not of the form Gate=true`);
    else if (gate !== undefined) value[gate.field] = setting;
    else warnings.push(`knows no gate "${name}"; it is ignored`);
  }
  return problems.length > 0 ? { problems } : { value, warnings };
}
