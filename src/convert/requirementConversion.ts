/** Converts requirements on another cloud's instances to Azure. */
import { CapacityTypes, KNOWN_LABEL_VALUES, Labels, normalizeLabelKey } from '../api/labels.ts';
import type { RequirementLike } from '../api/requirementValidation.ts';
import { shown, type Note } from './change.ts';
import { cloudOfDomain, otherInstanceType, type FamilyFacts, type OtherCloud } from './otherClouds.ts';

export interface RequirementContext {
  /** The Azure region of the cluster. */
  readonly region: string;
  /** Path of the requirement. */
  readonly field: string;
  readonly note: Note;
}

const LISTS: ReadonlySet<string> = new Set(['In', 'NotIn']);
/** Operators without values: only the key is converted. */
const BARE: ReadonlySet<string> = new Set(['Exists', 'DoesNotExist']);

/** Attributes with another name on Azure and the same values. */
const SAME_VALUES: Readonly<Record<string, string>> = {
  'instance-cpu': Labels.skuCpu,
  'instance-memory': Labels.skuMemory,
  'instance-gpu-count': Labels.skuGpuCount,
  'instance-gpu-manufacturer': Labels.skuGpuManufacturer,
};

const GPU_NAMES: Readonly<Record<string, string>> = {
  t4: 'T4',
  a10: 'A10',
  a10g: 'A10',
  a100: 'A100',
  h100: 'H100',
  h200: 'H200',
  v100: 'V100',
  m60: 'M60',
};

/** Attributes without an equivalent on Azure, with an explanation of each. */
const NO_EQUIVALENT: Readonly<Record<string, string>> = {
  'instance-generation': `generations of other clouds cannot be compared with versions of Azure; see ${Labels.skuVersion}`,
  'instance-hypervisor': 'all instances of Azure run on the same hypervisor',
  'instance-network-bandwidth': `Azure has no label for bandwidth; see ${Labels.skuAcceleratedNetworking}`,
  'instance-ebs-bandwidth': `Azure has no label for disk bandwidth; see ${Labels.skuPremiumStorage}`,
  'instance-gpu-memory': 'Azure has no label for the memory of GPUs; choose by their name',
  'instance-encryption-in-transit-supported': 'Azure has no label for it',
  'instance-accelerator-name': 'Azure has no such accelerators',
  'instance-accelerator-manufacturer': 'Azure has no such accelerators',
  'instance-accelerator-count': 'Azure has no such accelerators',
};

export function convertRequirement(requirement: RequirementLike, context: RequirementContext): RequirementLike[] {
  const key = normalizeLabelKey(requirement.key);
  const [domain = '', attribute = ''] = key.includes('/') ? key.split('/') : ['', key];
  const cloud = cloudOfDomain(domain);
  if (cloud !== undefined) return attributeOf(cloud, attribute, requirement, context);
  if (domain === 'topology.k8s.aws') {
    return attribute === 'zone-id'
      ? zones(requirement, context)
      : dropped(requirement, context, 'Azure has no such label');
  }
  if (key === Labels.zone) return zones(requirement, context);
  if (key === Labels.region) return regions(requirement, context);
  if (key === Labels.instanceType) return instanceTypes(requirement, context);
  if (key === Labels.capacityType) return capacityTypes(requirement, context);
  if (key === Labels.windowsBuild) return dropped(requirement, context, 'nodes run Linux only');
  return [{ ...requirement, key }];
}

function attributeOf(
  cloud: OtherCloud,
  attribute: string,
  requirement: RequirementLike,
  context: RequirementContext,
): RequirementLike[] {
  const same = SAME_VALUES[attribute];
  if (same !== undefined) return renamed(requirement, same, context);
  switch (attribute) {
    case 'instance-category':
      return byTable(requirement, Labels.skuFamily, cloud.category, context);
    case 'instance-family':
      return families(requirement, cloud.family, context);
    case 'instance-size':
      return sizes(requirement, cloud, context);
    case 'instance-gpu-name':
      return byTable(requirement, Labels.skuGpuName, (name) => GPU_NAMES[name.toLowerCase()], context);
    case 'instance-local-nvme':
      return BARE.has(requirement.operator) || LISTS.has(requirement.operator)
        ? dropped(requirement, context, `exact sizes of local disks differ; see ${Labels.skuEphemeralOsMaxSize}`)
        : renamed(requirement, Labels.skuEphemeralOsMaxSize, context);
    case 'instance-cpu-manufacturer':
      return manufacturers(requirement, context);
    default:
      return dropped(
        requirement,
        context,
        NO_EQUIVALENT[attribute] ?? `a label of ${cloud.name} that Azure does not have`,
      );
  }
}

/** Many old values may become few new ones, so minValues is capped. */
function within(minValues: number | undefined, values: readonly string[]): { readonly minValues?: number } {
  return minValues === undefined ? {} : { minValues: Math.min(minValues, values.length) };
}

function renamed(requirement: RequirementLike, key: string, { field, note }: RequirementContext): RequirementLike[] {
  const { key: from } = requirement;
  note({ field, outcome: 'changed', from, to: key, why: 'the same fact has this label on Azure' });
  return [{ ...requirement, key }];
}

function dropped(requirement: RequirementLike, { field, note }: RequirementContext, why: string): RequirementLike[] {
  note({ field, outcome: 'dropped', from: requirementText(requirement), why });
  return [];
}

function requirementText({ key, operator, values = [] }: RequirementLike): string {
  return shown([key, operator, values.join(', ')].filter((part) => part !== '').join(' '));
}

/** Maps each value by the table; values without an equivalent are reported. */
function byTable(
  requirement: RequirementLike,
  key: string,
  table: (value: string) => string | undefined,
  context: RequirementContext,
): RequirementLike[] {
  const { operator, values = [], minValues } = requirement;
  if (BARE.has(operator)) return renamed(requirement, key, context);
  if (!LISTS.has(operator)) return dropped(requirement, context, 'it does not compare by name');
  const found = [...new Set(values.flatMap((value) => table(value) ?? []))];
  const lost = values.filter((value) => table(value) === undefined);
  if (found.length === 0) return dropped(requirement, context, 'none of the values has an equal on Azure');
  const { note, field } = context;
  const to = { key, operator, values: found, ...within(minValues, found) };
  const rest = lost.length === 0 ? '' : `; ${lost.join(', ')} ${lost.length === 1 ? 'has' : 'have'} no equal`;
  note({
    field,
    outcome: 'changed',
    from: requirementText(requirement),
    to: requirementText(to),
    why: `the nearest that Azure has${rest}`,
  });
  return [to];
}

/** A family implies two things: its purpose and its architecture. */
function families(
  requirement: RequirementLike,
  family: (value: string) => FamilyFacts | undefined,
  context: RequirementContext,
): RequirementLike[] {
  const { operator, values = [] } = requirement;
  if (operator !== 'In') return dropped(requirement, context, `families of Azure are wider; see ${Labels.skuSeries}`);
  const facts = values.flatMap((value) => family(value) ?? []);
  const mapped = byTable(requirement, Labels.skuFamily, (value) => family(value)?.skuFamily, context);
  return [...mapped, ...archOf(facts)];
}

/** If all have the same architecture, it was implied too. */
function archOf(facts: readonly FamilyFacts[]): RequirementLike[] {
  const archs = [...new Set(facts.map(({ arch }) => arch))];
  return archs.length === 1 ? [{ key: Labels.arch, operator: 'In', values: archs }] : [];
}

/**
 * Sizes below `large` have no equivalent: AKS nodes have at least two vCPUs. If they are excluded, nothing is reported.
 */
function sizes(requirement: RequirementLike, cloud: OtherCloud, context: RequirementContext): RequirementLike[] {
  const cpus = (value: string): string | undefined => cloud.cpusOfSize(value)?.toString();
  return byTable(requirement, Labels.skuCpu, cpus, context);
}

function manufacturers(requirement: RequirementLike, context: RequirementContext): RequirementLike[] {
  const { operator, values = [] } = requirement;
  const isArm = values.length === 1 && values[0] === 'aws';
  if (!isArm || !LISTS.has(operator)) {
    return dropped(requirement, context, `Azure says it in the name of the series only; see ${Labels.skuSeries}`);
  }
  const to = { key: Labels.arch, operator, values: ['arm64'] };
  const { note, field } = context;
  note({
    field,
    outcome: 'changed',
    from: requirementText(requirement),
    to: requirementText(to),
    why: 'its CPUs are arm64',
  });
  return [to];
}

function instanceTypes(requirement: RequirementLike, context: RequirementContext): RequirementLike[] {
  const { operator, values = [] } = requirement;
  const foreign = values.filter((value) => otherInstanceType(value) !== undefined);
  if (foreign.length === 0) return [requirement];
  if (operator !== 'In') return dropped(requirement, context, 'Azure has no instance types of these names');
  const facts = values.flatMap((value) => otherInstanceType(value) ?? []);
  const skuFamilies = [...new Set(facts.map(({ skuFamily }) => skuFamily))];
  const cpus = [...new Set(facts.flatMap(({ cpus: count }) => (count === undefined ? [] : [count])))].toSorted(
    (a, b) => a - b,
  );
  const to: RequirementLike[] = [
    { key: Labels.skuFamily, operator, values: skuFamilies },
    // A type whose name does not tell its vCPUs must stay possible.
    ...(facts.some(({ cpus: count }) => count === undefined)
      ? []
      : [{ key: Labels.skuCpu, operator, values: cpus.map(String) }]),
    ...archOf(facts),
  ];
  const { note, field } = context;
  note({
    field,
    outcome: 'changed',
    from: requirementText(requirement),
    to: to.map(requirementText).join(' and '),
    why: 'instance types of the same families and vCPUs; the cheapest of them is bought',
  });
  const lost = values.filter((value) => !foreign.includes(value));
  if (lost.length > 0) {
    dropped({ ...requirement, values: lost }, context, 'it is not known what these instance types are like');
  }
  return to;
}

const ZONES = 'abc';

/** `us-east-1a`, `us-central1-a` and `use1-az1` all mean zone 1 of their region. */
function zoneNumber(zone: string): number | undefined {
  const [, digit] = /-az(\d)$/.exec(zone) ?? [];
  const [, letter] = /[0-9]-?([a-z])$/.exec(zone) ?? [];
  const number = digit === undefined ? (letter === undefined ? 0 : ZONES.indexOf(letter) + 1) : Number(digit);
  return number >= 1 && number <= ZONES.length ? number : undefined;
}

const AZURE_ZONE = /^[a-z]+[a-z0-9]*-[1-3]$/;

function zones(requirement: RequirementLike, context: RequirementContext): RequirementLike[] {
  const { values = [], operator } = requirement;
  const isOurs = BARE.has(operator) || values.every((value) => AZURE_ZONE.test(value) || value === '0' || value === '');
  if (isOurs) return requirement.key === Labels.zone ? [requirement] : renamed(requirement, Labels.zone, context);
  const table = (zone: string): string | undefined => {
    const number = zoneNumber(zone);
    return number === undefined ? undefined : `${context.region}-${number}`;
  };
  return byTable(requirement, Labels.zone, table, context);
}

function regions(requirement: RequirementLike, context: RequirementContext): RequirementLike[] {
  if (requirement.operator !== 'In' || requirement.values?.every((value) => value === context.region) === true) {
    return [requirement];
  }
  return byTable(requirement, Labels.region, () => context.region, context);
}

function capacityTypes(requirement: RequirementLike, context: RequirementContext): RequirementLike[] {
  const { operator, values = [] } = requirement;
  if (!LISTS.has(operator) || !values.includes(CapacityTypes.reserved)) return [requirement];
  const known = KNOWN_LABEL_VALUES.get(Labels.capacityType);
  const kept = values.filter((value) => known?.has(value));
  const to = kept.length > 0 || operator === 'NotIn' ? kept : [CapacityTypes.onDemand];
  const { note, field } = context;
  const why = 'capacity reservations of Azure are used through on-demand nodes';
  note({ field, outcome: 'changed', from: values.join(', '), to: to.join(', ') || 'nothing', why });
  return to.length === 0 ? [] : [{ ...requirement, values: to, ...within(requirement.minValues, to) }];
}
