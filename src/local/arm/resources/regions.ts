/** Where the regions of the price list are. Out: by name, what the list of locations says of each. */
interface Region {
  readonly displayName: string;
  readonly geography: string;
  readonly group: string;
  readonly place: string;
  readonly longitude: string;
  readonly latitude: string;
  readonly paired: readonly string[];
  /** The physical zone behind each logical one: it differs from subscription to subscription. */
  readonly zones: readonly [number, number, number];
}

export const REGIONS: Readonly<Record<string, Region>> = {
  eastus: {
    displayName: 'East US',
    geography: 'United States',
    group: 'US',
    place: 'Virginia',
    longitude: '-79.8164',
    latitude: '37.3719',
    paired: ['westus'],
    zones: [1, 3, 2],
  },
  southcentralus: {
    displayName: 'South Central US',
    geography: 'United States',
    group: 'US',
    place: 'Texas',
    longitude: '-98.5',
    latitude: '29.4167',
    paired: ['northcentralus'],
    zones: [3, 1, 2],
  },
  swedencentral: {
    displayName: 'Sweden Central',
    geography: 'Sweden',
    group: 'Europe',
    place: 'Gävle',
    longitude: '17.14127',
    latitude: '60.67488',
    paired: ['swedensouth'],
    zones: [2, 1, 3],
  },
  uksouth: {
    displayName: 'UK South',
    geography: 'United Kingdom',
    group: 'Europe',
    place: 'London',
    longitude: '-0.799',
    latitude: '50.941',
    paired: ['ukwest'],
    zones: [2, 3, 1],
  },
  westeurope: {
    displayName: 'West Europe',
    geography: 'Europe',
    group: 'Europe',
    place: 'Netherlands',
    longitude: '4.9',
    latitude: '52.3667',
    paired: ['northeurope'],
    zones: [3, 2, 1],
  },
  westus2: {
    displayName: 'West US 2',
    geography: 'United States',
    group: 'US',
    place: 'Washington',
    longitude: '-119.852',
    latitude: '47.233',
    paired: ['westcentralus'],
    zones: [1, 2, 3],
  },
};
