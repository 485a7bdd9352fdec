/**
 * Renders a chart that uses only a small part of Helm's language (values, `if`, `if not`, `if eq`, `range`, `quote`,
 * `default`, `toJson`, `required`), so that our own chart can be installed without Helm. Any other action is an error,
 * which keeps the chart simple.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml, parseYamlDocuments } from '../api/yaml/parseYaml.ts';
import { InvariantError } from '../errors/invariantError.ts';
import type { KubeObject } from '../api/object.ts';

interface Release {
  readonly Name: string;
  readonly Namespace: string;
}

export type Manifest = KubeObject & { readonly kind: string };
type Scope = Readonly<Record<string, unknown>>;
type Part = { readonly text: string } | { readonly action: string };

export function renderChart(
  folder: string,
  values: Readonly<Record<string, unknown>>,
  release: Release,
): readonly Manifest[] {
  const defaults = parseYaml(readFileSync(join(folder, 'values.yaml'), 'utf8')) as Record<string, unknown>;
  const scope: Scope = { Values: merged(defaults, values), Release: release };
  return readdirSync(join(folder, 'templates'))
    .sort()
    .flatMap((name) => {
      const source = readFileSync(join(folder, 'templates', name), 'utf8');
      return parseYamlDocuments(renderTemplate(source, scope)) as readonly Manifest[];
    });
}

export function renderTemplate(source: string, scope: Scope): string {
  const parts = split(source);
  const output: string[] = [];
  const end = render(parts, 0, scope, output);
  if (end !== parts.length) throw new InvariantError('an {{ end }} too many');
  return output.join('');
}

function split(source: string): Part[] {
  const parts: Part[] = [];
  let rest = source;
  for (;;) {
    const match = /\{\{(-?)\s*([\s\S]*?)\s*(-?)\}\}/.exec(rest);
    if (!match) return [...parts, { text: rest }];
    const before = rest.slice(0, match.index);
    parts.push({ text: match[1] ? before.trimEnd() : before }, { action: match[2] ?? '' });
    rest = rest.slice(match.index + match[0].length);
    if (match[3]) rest = rest.trimStart();
  }
}

/** Renders up to the `end` of the block at `at`; returns its index. */
function render(parts: readonly Part[], at: number, scope: Scope, output: string[]): number {
  let next = at;
  while (next < parts.length) {
    const part = parts[next];
    if (part === undefined || 'text' in part) {
      output.push(part?.text ?? '');
      next++;
      continue;
    }
    if (part.action === 'end') return next;
    const holds = conditionOf(part.action, scope);
    const loop = /^range \$(\w+), \$(\w+) := (\S+)$/.exec(part.action);
    if (holds !== undefined) {
      next = holds ? render(parts, next + 1, scope, output) : endOf(parts, next + 1);
    } else if (loop) {
      const looped = (lookUp(loop[3] ?? '', scope) ?? {}) as object;
      const entries: (readonly [string | number, unknown])[] = Array.isArray(looped)
        ? [...looped.entries()]
        : Object.entries(looped).sort(([left], [right]) => left.localeCompare(right));
      const start = next + 1;
      next = endOf(parts, start);
      for (const [key, value] of entries) {
        render(parts, start, { ...scope, [`$${loop[1]}`]: key, [`$${loop[2]}`]: value }, output);
      }
    } else output.push(evaluate(part.action, scope));
    next++;
  }
  return next;
}

/** End of the block that starts at `at`. */
function endOf(parts: readonly Part[], at: number): number {
  let depth = 0;
  for (let index = at; index < parts.length; index++) {
    const part = parts[index];
    const action = part !== undefined && 'action' in part ? part.action : '';
    if (/^(?:if|range) /.test(action)) depth++;
    if (action === 'end' && depth-- === 0) return index;
  }
  throw new InvariantError('an {{ end }} is missing');
}

/** Undefined when the action is not a condition. */
function conditionOf(action: string, scope: Scope): boolean | undefined {
  const equal = /^if eq (\S+) "([^"]*)"$/.exec(action);
  if (equal) return lookUp(equal[1] ?? '', scope) === equal[2];
  const either = /^if or ([.$]\S+) ([.$]\S+)$/.exec(action);
  if (either) return either.slice(1).some((path) => isTrue(lookUp(path, scope)));
  const truth = /^if (not )?([.$]\S+)$/.exec(action);
  if (!truth) return undefined;
  return isTrue(lookUp(truth[2] ?? '', scope)) !== (truth[1] !== undefined);
}

/** True in Go templates: everything that is not empty. */
function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function evaluate(action: string, scope: Scope): string {
  const fallback = /^(\S+) \| default "([^"]*)"$/.exec(action);
  if (fallback) {
    const given = lookUp(fallback[1] ?? '', scope);
    return isTrue(given) ? textOf(given) : (fallback[2] ?? '');
  }
  const json = /^toJson (\S+)$/.exec(action);
  if (json) return JSON.stringify(lookUp(json[1] ?? '', scope));
  const quoted = /^(\S+) \| quote$/.exec(action);
  if (quoted) return JSON.stringify(textOf(lookUp(quoted[1] ?? '', scope)));
  const demanded = /^required "([^"]*)" (\S+)$/.exec(action);
  if (demanded) {
    const value = lookUp(demanded[2] ?? '', scope);
    if (value === undefined || value === '') throw new InvariantError(demanded[1]);
    return textOf(value);
  }
  if (!/^[.$]\S+$/.test(action)) throw new InvariantError(`{{ ${action} }} is more than this renderer knows`);
  const value = lookUp(action, scope);
  if (value === undefined) throw new InvariantError(`{{ ${action} }} has no value`);
  return textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lookUp(path: string, scope: Scope): unknown {
  if (path.startsWith('$.')) return lookUp(path.slice(1), scope);
  const [first = '', ...rest] = path.startsWith('$') ? path.split('.') : path.slice(1).split('.');
  return [first, ...rest].reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], scope);
}

function merged(base: Record<string, unknown>, top: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result = { ...base };
  for (const [key, value] of Object.entries(top)) {
    const below = result[key];
    result[key] = isRecord(below) && isRecord(value) ? merged(below, value) : value;
  }
  return result;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
