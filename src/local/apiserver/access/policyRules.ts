/** The rules of roles: what they allow, whether some cover others, how they print. */
import { listAt, type Fields } from '../fields.ts';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** What a request asks for. */
export interface Attributes {
  readonly verb: string;
  /** Of requests on resources; the rest have a path. */
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

export function readRule(rule: unknown): PolicyRule {
  const texts = (name: string): string[] => listAt(rule as Fields, name).map(String);
  return {
    verbs: texts('verbs'),
    apiGroups: texts('apiGroups'),
    resources: texts('resources'),
    resourceNames: texts('resourceNames'),
    nonResourceURLs: texts('nonResourceURLs'),
  };
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

/** Those single permissions of `wanted` that no rule of `held` gives. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((single) => !held.some((rule) => covers(rule, single)));
}

/** One verb on one resource of one group under one name (or one path) each. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const onResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        (resourceNames.length === 0 ? [undefined] : resourceNames).map((name) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames: name === undefined ? [] : [name],
          nonResourceURLs: [],
        })),
      ),
    ),
  );
  const onPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({
      verbs: [verb],
      apiGroups: [],
      resources: [],
      resourceNames: [],
      nonResourceURLs: [url],
    })),
  );
  return [...onResources, ...onPaths];
}

function covers(owner: PolicyRule, single: PolicyRule): boolean {
  const all = (wide: readonly string[], narrow: readonly string[]): boolean =>
    wide.includes('*') || narrow.every((one) => wide.includes(one));
  if (!all(owner.verbs, single.verbs)) return false;
  const [url] = single.nonResourceURLs;
  if (url !== undefined) return owner.nonResourceURLs.some((pattern) => urlMatches(pattern, url));
  if (!all(owner.apiGroups, single.apiGroups)) return false;
  const [resource = ''] = single.resources;
  const [, subresource] = resource.split('/');
  const hasResource =
    owner.resources.includes('*') ||
    owner.resources.includes(resource) ||
    (subresource !== undefined && owner.resources.includes(`*/${subresource}`));
  if (!hasResource) return false;
  if (owner.resourceNames.length === 0) return true;
  return single.resourceNames.length > 0 && single.resourceNames.every((name) => owner.resourceNames.includes(name));
}

/** Rules that differ only in their verbs become one. */
function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify({ ...rule, verbs: [] });
    const known = merged.get(key);
    merged.set(key, known === undefined ? rule : { ...known, verbs: [...new Set([...known.verbs, ...rule.verbs])] });
  }
  return [...merged.values()];
}

/** As refusals print them, one per line. */
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

/** A list of strings as Go quotes it. */
export function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
