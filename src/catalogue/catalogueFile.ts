/**
 * The catalogue as a file: a JSON list of `{name, labels, allocatable, capacity, offerings}`. Written from instance
 * types and parsed again; mistakes are reported with their path.
 */
import { Labels, PlacementScopes, WELL_KNOWN_LABELS } from '../api/labels.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { Quantity } from '../units/quantity.ts';
import { formatResources, type Resources } from '../units/resources.ts';
import { OFFERING_LABELS, offeringLabels } from './instanceTypeOf.ts';
import { REGIONAL_ZONE, placementScopeOf } from './offerings.ts';

export interface CatalogueEntry {
  readonly name: string;
  /** Labels with one value; without those that follow from the offering, except for ultra disks. */
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Counts against a NodePool's limits; default: `allocatable`. */
  readonly capacity?: Readonly<Record<string, string>>;
  readonly offerings: readonly { readonly zone: string; readonly capacityType: string; readonly price: number }[];
}

export interface ReadCatalogue {
  readonly instanceTypes: readonly InstanceType[];
  /** One line per mistake, with its path. */
  readonly problems: readonly string[];
}

/** Every offering that is available now. */
export function writeCatalogue(instanceTypes: readonly InstanceType[]): CatalogueEntry[] {
  return instanceTypes.map((instanceType) => ({
    name: instanceType.name,
    labels: labelsOf(instanceType),
    allocatable: amounts(instanceType.allocatable),
    capacity: amounts(instanceType.capacity),
    offerings: instanceType.offerings
      .filter(({ available }) => available)
      .map(({ zone, capacityType, price }) => ({ zone, capacityType, price })),
  }));
}

function labelsOf({ requirements }: InstanceType): Record<string, string> {
  const single = [...requirements].flatMap(({ key, values, complement }): [string, string][] => {
    const [value] = values;
    const offered = OFFERING_LABELS.includes(key) || !WELL_KNOWN_LABELS.has(key);
    return complement || values.size !== 1 || offered || value === undefined ? [] : [[key, value]];
  });
  if (requirements.get(Labels.skuUltraSsd).has('true')) single.push([Labels.skuUltraSsd, 'true']);
  return Object.fromEntries(single.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function amounts(resources: Resources): Record<string, string> {
  return formatResources(Object.fromEntries(Object.entries(resources).filter(([, amount]) => !amount.isZero())));
}

/** Valid entries are returned even if others have mistakes. */
export function readCatalogue(json: unknown): ReadCatalogue {
  if (!Array.isArray(json)) return { instanceTypes: [], problems: ['the catalogue must be a JSON list'] };
  const problems: string[] = [];
  const names = new Set<string>();
  const instanceTypes = json.flatMap((entry: unknown, index) => {
    const reader = new EntryReader(`[${index}]`, problems);
    const instanceType = reader.read(entry);
    if (instanceType === undefined) return [];
    if (names.has(instanceType.name)) problems.push(`[${index}].name: "${instanceType.name}" is there twice`);
    if (names.has(instanceType.name)) return [];
    names.add(instanceType.name);
    return [instanceType];
  });
  return { instanceTypes, problems };
}

type JsonObject = Readonly<Record<string, unknown>>;
const CAPACITY_TYPES: readonly unknown[] = ['on-demand', 'spot', 'reserved'];

class EntryReader {
  private readonly path: string;
  private readonly problems: string[];
  private failed = false;

  constructor(path: string, problems: string[]) {
    this.path = path;
    this.problems = problems;
  }

  read(entry: unknown): InstanceType | undefined {
    if (!isObject(entry)) return this.fail('', 'must be an object');
    const { name } = entry;
    if (typeof name !== 'string' || name === '') return this.fail('.name', 'must be text');
    const labels = this.labels(entry['labels']);
    const allocatable = this.amounts('.allocatable', entry['allocatable']);
    const capacity = entry['capacity'] === undefined ? allocatable : this.amounts('.capacity', entry['capacity']);
    const ultraSsd = labels[Labels.skuUltraSsd] === 'true';
    const offerings = this.offerings(entry['offerings'], ultraSsd);
    if (this.failed) return undefined;
    return { name, requirements: requirementsOf(name, labels, offerings), offerings, capacity, allocatable };
  }

  private labels(value: unknown): Readonly<Record<string, string>> {
    if (!isObject(value)) this.fail('.labels', 'must be an object');
    const labels = isObject(value) ? value : {};
    for (const [key, label] of Object.entries(labels)) {
      if (typeof label !== 'string') this.fail(`.labels["${key}"]`, 'must be text');
    }
    return labels as Readonly<Record<string, string>>;
  }

  private amounts(field: string, value: unknown): Resources {
    if (!isObject(value)) this.fail(field, 'must be an object of quantities');
    const resources: Record<string, Quantity> = {};
    for (const [name, amount] of Object.entries(isObject(value) ? value : {})) {
      const quantity = typeof amount === 'string' || typeof amount === 'number' ? Quantity.tryParse(amount) : undefined;
      if (quantity === undefined) this.fail(`${field}.${name}`, 'is not a quantity such as 1900m or 7Gi');
      else if (quantity.sign() < 0) this.fail(`${field}.${name}`, 'must not be negative');
      else resources[name] = quantity;
    }
    return resources;
  }

  private offerings(value: unknown, ultraSsd: boolean): readonly Offering[] {
    if (!Array.isArray(value)) this.fail('.offerings', 'must be a list');
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    return list.flatMap((item, index) => {
      const field = `.offerings[${index}]`;
      const { zone, capacityType, price } = isObject(item) ? item : {};
      if (typeof zone !== 'string') this.fail(`${field}.zone`, 'must be text');
      if (!CAPACITY_TYPES.includes(capacityType)) {
        this.fail(`${field}.capacityType`, 'must be on-demand, spot or reserved');
      }
      if (typeof price !== 'number' || !(price >= 0)) this.fail(`${field}.price`, 'must be a number, 0 or more');
      return this.failed
        ? []
        : [offering(zone as string, capacityType as Offering['capacityType'], price as number, ultraSsd)];
    });
  }

  private fail(field: string, message: string): undefined {
    this.failed = true;
    this.problems.push(`${this.path}${field}: ${message}`);
    return undefined;
  }
}

function offering(zone: string, capacityType: Offering['capacityType'], price: number, ultraSsd: boolean): Offering {
  const priority = capacityType === 'spot' ? 'spot' : 'regular';
  const scope = zone === '' ? PlacementScopes.regional : placementScopeOf(zone);
  const ultra = ultraSsd && zone !== REGIONAL_ZONE ? ['true', 'false'] : ['false'];
  return {
    zone,
    capacityType,
    price,
    available: true,
    requirements: Requirements.fromLabels({
      [Labels.zone]: zone,
      [Labels.capacityType]: capacityType,
      [Labels.aksScaleSetPriority]: priority,
      [Labels.aksPriority]: priority,
      [Labels.placementScope]: scope,
    }).add(Requirement.of(Labels.skuUltraSsd, 'In', ultra)),
  };
}

/** Defaults: Linux on amd64, in any cluster and mode of AKS; other well-known labels are absent. */
function requirementsOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  offerings: readonly Offering[],
): Requirements {
  const given = { [Labels.instanceType]: name, [Labels.arch]: 'amd64', [Labels.os]: 'linux', ...labels };
  const own = Object.entries(given).filter(([key]) => !OFFERING_LABELS.includes(key));
  const known = Requirements.fromLabels(Object.fromEntries(own)).add(...offeringLabels(offerings));
  const rest = [...WELL_KNOWN_LABELS].filter((key) => key !== Labels.nodePool && !known.has(key));
  return known.add(...rest.map((key) => UNSAID.get(key) ?? Requirement.of(key, 'DoesNotExist')));
}

const UNSAID: ReadonlyMap<string, Requirement> = new Map([
  [Labels.aksMode, Requirement.of(Labels.aksMode, 'In', ['system', 'user'])],
  [Labels.aksCluster, Requirement.of(Labels.aksCluster, 'Exists')],
]);

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
