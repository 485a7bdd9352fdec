/** The one table of options, its groups in reading order, and the typed `Options` that parsing gives. */
import { azureOptions } from './azureOptions.ts';
import { coreOptions } from './coreOptions.ts';
import type { OptionDefinition, OptionGroup, OptionKind } from './optionDefinition.ts';

export const optionTable = { ...azureOptions, ...coreOptions };

type ValueOf<Definition> = Definition extends { readonly kind: OptionKind<infer Value> } ? Value : never;

export type Options = { readonly [Name in keyof typeof optionTable]: ValueOf<(typeof optionTable)[Name]> };

export type OptionKey = keyof Options;

export const optionGroups: readonly OptionGroup[] = [
  'Cluster',
  'Azure',
  'Nodes',
  'Networking',
  'Images',
  'Scheduling',
  'Logs and metrics',
  'Process',
];

/** The table's rows without their value types, for generic code. */
export function optionEntries(): readonly (readonly [OptionKey, OptionDefinition<unknown>])[] {
  return Object.entries(optionTable) as unknown as readonly (readonly [OptionKey, OptionDefinition<unknown>])[];
}
