/**
 * The scheduler configuration: default spread constraints for pods without any, in kube-scheduler's format. YAML or
 * JSON, parsed strictly: unknown and repeated fields are mistakes, each reported with its path.
 */
import { parseYaml, YamlSyntaxError } from '../api/yaml/parseYaml.ts';
import type { OptionKind, ParseOutcome } from './optionDefinition.ts';

interface DefaultSpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: 'Honor' | 'Ignore';
  readonly nodeTaintsPolicy?: 'Honor' | 'Ignore';
}

export interface SchedulerConfiguration {
  readonly defaultConstraints: readonly DefaultSpreadConstraint[];
}

type Fields = Readonly<Record<string, unknown>>;
type Complain = (path: string, sentence: string) => void;

const MAXIMUM_INT32 = 2_147_483_647;
const CONSTRAINT_FIELDS = [
  'maxSkew',
  'topologyKey',
  'whenUnsatisfiable',
  'minDomains',
  'nodeAffinityPolicy',
  'nodeTaintsPolicy',
];
/** Fields of a pod's constraint that are not allowed in a default: the selector is derived for each pod. */
const DEDUCED_FIELDS = ['labelSelector', 'matchLabelKeys'];
const WHEN_UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];
const POLICIES = ['Honor', 'Ignore'];

export const schedulerConfiguration: OptionKind<SchedulerConfiguration> = {
  placeholder: 'yaml',
  allowed:
    'YAML or JSON of the form podTopologySpread: {defaultConstraints: [{maxSkew, topologyKey, whenUnsatisfiable}]}',
  emptyIsValue: true,
  parse: parseSchedulerConfiguration,
};

export function parseSchedulerConfiguration(text: string): ParseOutcome<SchedulerConfiguration> {
  if (text.trim() === '') return { value: { defaultConstraints: [] } };
  const problems: string[] = [];
  const root = readYaml(text);
  if ('problems' in root) return root;
  const complain: Complain = (path, sentence) => problems.push(`${path === '' ? '' : `${path}: `}${sentence}`);
  const defaultConstraints = readRoot(root.value, complain);
  return problems.length > 0 ? { problems } : { value: { defaultConstraints } };
}

function readYaml(text: string): ParseOutcome<unknown> {
  try {
    return { value: parseYaml(text) };
  } catch (error) {
    if (error instanceof YamlSyntaxError) return { problems: [`cannot be read: ${error.message}`] };
    throw error;
  }
}

function readRoot(root: unknown, complain: Complain): DefaultSpreadConstraint[] {
  const fields = readObject(root, '', ['podTopologySpread'], complain);
  const spread = readObject(fields?.['podTopologySpread'], 'podTopologySpread', ['defaultConstraints'], complain);
  const list = spread?.['defaultConstraints'] ?? [];
  const path = 'podTopologySpread.defaultConstraints';
  if (!Array.isArray(list)) {
    complain(path, 'must be a list');
    return [];
  }
  const constraints = list.map((item: unknown, index) => readConstraint(item, `${path}[${index}]`, complain));
  refuseRepeats(constraints, path, complain);
  return constraints.filter((constraint) => constraint !== undefined);
}

function readConstraint(item: unknown, path: string, complain: Complain): DefaultSpreadConstraint | undefined {
  if (item === undefined || item === null) {
    complain(path, 'must be an object');
    return undefined;
  }
  const fields = readObject(item, path, [...CONSTRAINT_FIELDS, ...DEDUCED_FIELDS], complain);
  if (fields === undefined) return undefined;
  for (const name of DEDUCED_FIELDS) {
    if (fields[name] !== undefined && fields[name] !== null)
      complain(`${path}.${name}`, 'must not be set; the selector is deduced from the services and owners of each pod');
  }
  const maxSkew = readInteger(fields['maxSkew'], `${path}.maxSkew`, complain);
  if (maxSkew === undefined && fields['maxSkew'] === undefined) complain(`${path}.maxSkew`, 'is required');
  if (maxSkew !== undefined && maxSkew <= 0) complain(`${path}.maxSkew`, `must be greater than 0, not ${maxSkew}`);
  const topologyKey = readTopologyKey(fields['topologyKey'], `${path}.topologyKey`, complain);
  const whenUnsatisfiable = readChoice(
    fields['whenUnsatisfiable'],
    WHEN_UNSATISFIABLE,
    `${path}.whenUnsatisfiable`,
    complain,
  );
  if (fields['whenUnsatisfiable'] === undefined) complain(`${path}.whenUnsatisfiable`, 'is required');
  const minDomains = readInteger(fields['minDomains'], `${path}.minDomains`, complain);
  const affinity = readChoice(fields['nodeAffinityPolicy'], POLICIES, `${path}.nodeAffinityPolicy`, complain);
  const taints = readChoice(fields['nodeTaintsPolicy'], POLICIES, `${path}.nodeTaintsPolicy`, complain);
  return {
    maxSkew: maxSkew ?? 0,
    topologyKey: topologyKey ?? '',
    whenUnsatisfiable: whenUnsatisfiable as DefaultSpreadConstraint['whenUnsatisfiable'],
    ...(minDomains === undefined ? {} : { minDomains }),
    ...(affinity === undefined ? {} : { nodeAffinityPolicy: affinity as 'Honor' | 'Ignore' }),
    ...(taints === undefined ? {} : { nodeTaintsPolicy: taints as 'Honor' | 'Ignore' }),
  };
}

function refuseRepeats(
  constraints: readonly (DefaultSpreadConstraint | undefined)[],
  path: string,
  complain: Complain,
): void {
  const seen = new Set<string>();
  for (const [index, constraint] of constraints.entries()) {
    if (constraint === undefined) continue;
    const pair = `${constraint.topologyKey} with ${constraint.whenUnsatisfiable}`;
    if (seen.has(pair)) complain(`${path}[${index}]`, `repeats the pair ${pair}`);
    seen.add(pair);
  }
}

/** Null counts as absent, as in Kubernetes. */
function readObject(value: unknown, path: string, known: readonly string[], complain: Complain): Fields | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) {
    complain(path, 'must be an object');
    return undefined;
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) complain(path === '' ? name : `${path}.${name}`, 'is not a known field');
  }
  return value as Fields;
}

function readInteger(value: unknown, path: string, complain: Complain): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAXIMUM_INT32) return value;
  complain(path, 'must be a whole number');
  return undefined;
}

function readChoice(value: unknown, choices: readonly string[], path: string, complain: Complain): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && choices.includes(value)) return value;
  complain(path, `must be ${choices.join(' or ')}`);
  return undefined;
}

function readTopologyKey(value: unknown, path: string, complain: Complain): string | undefined {
  if (value === undefined || value === null || value === '') complain(path, 'is required');
  else if (typeof value !== 'string' || !isQualifiedName(value))
    complain(path, 'must be a label key such as topology.kubernetes.io/zone');
  else return value;
  return undefined;
}

function isQualifiedName(text: string): boolean {
  const parts = text.split('/');
  const name = parts.pop() ?? '';
  const [prefix, ...more] = parts;
  if (more.length > 0 || name.length > 63 || !/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name)) return false;
  if (prefix === undefined) return true;
  return prefix.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(prefix);
}
