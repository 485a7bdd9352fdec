/** The rules of roles: what they allow, whether some cover others, and their text. */
import { listAt } from '../fields.ts';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The attributes of a request that are authorized. */
export interface Attributes {
  readonly verb: string;
  /** Undefined for requests that are not for resources, which are authorized by path. */
  readonly resource?: ResourceAttributes | undefined;
  readonly path: string;
}

export interface ResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const NO_RULE: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

export function readRule(rule: unknown): PolicyRule {
  const lists = Object.keys(NO_RULE).map((name) => [name, listAt(rule, name).map(String)]);
  return Object.fromEntries(lists) as unknown as PolicyRule;
}

const includes = (list: readonly string[], wanted: string): boolean => list.includes('*') || list.includes(wanted);

export function ruleAllows(rule: PolicyRule, { verb, resource, path }: Attributes): boolean {
  if (!includes(rule.verbs, verb)) return false;
  if (resource === undefined) return rule.nonResourceURLs.some((pattern) => urlMatches(pattern, path));
  const { group, subresource, name } = resource;
  if (!includes(rule.apiGroups, group)) return false;
  if (!resourceMatches(rule.resources, resource.resource, subresource)) return false;
  return rule.resourceNames.length === 0 || rule.resourceNames.includes(name);
}

function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some((one) => one === '*' || one === combined || (subresource !== '' && one === `*/${subresource}`));
}

function urlMatches(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true;
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''));
}

/** Returns the single permissions of `wanted` that no rule of `held` allows. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted
    .flatMap(breakDown)
    .filter(({ asked }) => !held.some((rule) => ruleAllows(rule, asked)))
    .map(({ asked: { verb, path, resource }, subject }) => ({
      ...NO_RULE,
      verbs: [verb],
      ...(resource === undefined
        ? { nonResourceURLs: [path] }
        : {
            apiGroups: [resource.group],
            resources: [subject],
            resourceNames: resource.name === '' ? [] : [resource.name],
          }),
    }));
}

/** Splits a rule into one verb on one resource, group and name, or on one path. `subject`: the resource in the rule. */
function breakDown(rule: PolicyRule): { readonly asked: Attributes; readonly subject: string }[] {
  const { apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const names = resourceNames.length === 0 ? [''] : resourceNames;
  return [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((subject) => {
        const [resource = '', subresource = ''] = subject.split('/');
        const attributes = { group, resource, subresource, namespace: '' };
        return rule.verbs.flatMap((verb) =>
          names.map((name) => ({ asked: { verb, path: '', resource: { ...attributes, name } }, subject })),
        );
      }),
    ),
    ...nonResourceURLs.flatMap((path) => rule.verbs.map((verb) => ({ asked: { verb, path }, subject: '' }))),
  ];
}

/** Merges rules that differ only in their verbs. */
function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify({ ...rule, verbs: [] });
    const known = merged.get(key);
    merged.set(key, known === undefined ? rule : { ...known, verbs: [...new Set([...known.verbs, ...rule.verbs])] });
  }
  return [...merged.values()];
}

/** Returns the rules as in upstream's error messages, one per line. */
export function ruleLines(rules: readonly PolicyRule[]): string {
  return compact(rules)
    .map((rule) => {
      const parts = [
        ['APIGroups', rule.apiGroups],
        ['Resources', rule.resources],
        ['NonResourceURLs', rule.nonResourceURLs],
        ['ResourceNames', rule.resourceNames],
        ['Verbs', rule.verbs],
      ] as const;
      const shown = parts
        .filter(([, values]) => values.length > 0)
        .map(([name, values]) => `${name}:${goList(values)}`);
      return `{${shown.join(', ')}}`;
    })
    .sort()
    .join('\n');
}

/** Formats a list of strings like Go's %q. */
export function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
