/** The regions of the price list, as in the list of locations. */
interface Region {
  readonly displayName: string;
  readonly group: string;
  readonly paired: readonly string[];
  /** The physical zone of each logical zone; it differs between subscriptions. */
  readonly zones: readonly [number, number, number];
}

export const REGIONS: Readonly<Record<string, Region>> = {
  eastus: { displayName: 'East US', group: 'US', paired: ['westus'], zones: [1, 3, 2] },
  southcentralus: { displayName: 'South Central US', group: 'US', paired: ['northcentralus'], zones: [3, 1, 2] },
  swedencentral: { displayName: 'Sweden Central', group: 'Europe', paired: ['swedensouth'], zones: [2, 1, 3] },
  uksouth: { displayName: 'UK South', group: 'Europe', paired: ['ukwest'], zones: [2, 3, 1] },
  westeurope: { displayName: 'West Europe', group: 'Europe', paired: ['northeurope'], zones: [3, 2, 1] },
  westus2: { displayName: 'West US 2', group: 'US', paired: ['westcentralus'], zones: [1, 2, 3] },
};
