/**
 * Evaluates the `x-kubernetes-validations` of a schema; one error per violated rule. Rules that mention `oldSelf` run
 * only on updates.
 */
import { messageOf, toError } from '../../errors/thrown.ts';
import { compileCel } from './celLibrary.ts';
import type { CelProgram } from './celLibrary.ts';
import { celValue } from './celValue.ts';
import { Correlation, sameKeys } from './correlation.ts';
import { propertySchema } from './defaulting.ts';
import { childPath, indexPath, keyPath } from './fieldError.ts';
import type { FieldError } from './fieldError.ts';
import { isJsonObject } from './json.ts';
import type { StructuralSchema, ValidationRule } from './structuralSchema.ts';

interface Place {
  readonly path: string;
  readonly value: unknown;
  readonly old: unknown;
  /** Undefined on creation, and for values without an old counterpart. */
  readonly correlation: Correlation | undefined;
  /** The nearest correlated ancestor, used for values without a counterpart. */
  readonly ancestor: Correlation | undefined;
}

export function validateRules(schema: StructuralSchema, value: unknown, old?: unknown): FieldError[] {
  const correlation = old === undefined ? undefined : new Correlation(schema, value, old);
  return walk(schema, { path: '', value, old, correlation, ancestor: undefined });
}

/** Rules that this engine cannot evaluate, with the reason; empty for a fully supported schema. */
export function unsupportedRules(
  schema: StructuralSchema,
  path = '',
): { path: string; rule: string; reason: string }[] {
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule }) => {
    const program = compiled(rule);
    return program instanceof Error ? [{ path, rule, reason: program.message }] : [];
  });
  const additional = typeof schema.additionalProperties === 'object' ? { '*': schema.additionalProperties } : {};
  const below = Object.entries({ ...schema.properties, ...additional });
  return [
    ...own,
    ...below.flatMap(([name, inner]) => unsupportedRules(inner, childPath(path, name))),
    ...(schema.items === undefined ? [] : unsupportedRules(schema.items, `${path}[*]`)),
    ...(schema.allOf ?? []).flatMap((inner) => unsupportedRules(inner, path)),
  ];
}

function walk(schema: StructuralSchema, place: Place): FieldError[] {
  if (place.value === null || place.value === undefined || !hasRules(schema)) return [];
  return [
    ...evaluateRules(schema, schema['x-kubernetes-validations'] ?? [], place),
    ...(schema.allOf ?? []).flatMap((inner) =>
      evaluateRules(schema, inner['x-kubernetes-validations'] ?? [], { ...place, correlation: undefined }),
    ),
    ...children(schema, place),
  ];
}

function children(schema: StructuralSchema, place: Place): FieldError[] {
  const { path, value, old } = place;
  const { items } = schema;
  if (Array.isArray(value)) {
    if (items === undefined) return [];
    const isMap = schema['x-kubernetes-list-type'] === 'map';
    const keys = schema['x-kubernetes-list-map-keys'] ?? [];
    return value.flatMap((item: unknown, at) =>
      walk(items, {
        path: indexPath(path, at),
        value: item,
        old: isMap && Array.isArray(old) ? old.find((each: unknown) => sameKeys(item, each, keys)) : undefined,
        ...descend(place, (correlation) => correlation.index(at)),
      }),
    );
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = propertySchema(schema, name);
    if (property === undefined) return [];
    const declared = Object.hasOwn(schema.properties ?? {}, name);
    return walk(property, {
      path: declared ? childPath(path, name) : keyPath(path, name),
      value: inner,
      old: isJsonObject(old) ? old[name] : undefined,
      ...descend(place, (correlation) => correlation.key(name)),
    });
  });
}

function descend(place: Place, step: (correlation: Correlation) => Correlation | undefined) {
  const { correlation, ancestor } = place;
  return correlation === undefined
    ? { correlation, ancestor }
    : { correlation: step(correlation), ancestor: correlation };
}

function evaluateRules(schema: StructuralSchema, rules: readonly ValidationRule[], place: Place): FieldError[] {
  if (rules.length === 0) return [];
  const { path, value, old } = place;
  const self = celValue(schema, value);
  const hasOld = old !== undefined && old !== null;
  const oldSelf = hasOld ? celValue(schema, old) : null;
  const field = path === '' ? '<nil>' : path;
  return rules.flatMap((rule) => {
    const program = compiled(rule.rule);
    const failure = (detail: string): FieldError[] => [
      { type: 'FieldValueInvalid', field, value: schema.type ?? '', detail },
    ];
    if (program instanceof Error) return failure(`rule compile error: ${program.message}`);
    if (program.usesOldSelf && !hasOld) return [];
    let holds: unknown;
    try {
      holds = program.evaluate({ self, oldSelf });
    } catch (error) {
      return failure(`${reasonOf(error)} evaluating rule: ${rule.message ?? rule.rule}`);
    }
    if (holds === true) return [];
    const unchanged = (place.correlation ?? place.ancestor)?.unchanged() === true;
    return !program.usesOldSelf && unchanged ? [] : [ruleError(schema, rule, path, value, { self, oldSelf })];
  });
}

function ruleError(
  schema: StructuralSchema,
  rule: ValidationRule,
  path: string,
  value: unknown,
  variables: Parameters<CelProgram['evaluate']>[0],
): FieldError {
  const inner = rule.fieldPath?.replace(/^\./, '');
  const full = inner === undefined ? path : childPath(path, inner);
  const field = full === '' ? '<nil>' : full;
  const type = rule.reason ?? 'FieldValueInvalid';
  const said = (): string =>
    saidByExpression(rule, variables) ?? rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`;
  const detail = type === 'FieldValueDuplicate' ? '' : said();
  const isScalar = schema.type !== 'object' && schema.type !== 'array';
  return { type, field, ...(isScalar ? { value } : {}), detail };
}

const MAX_MESSAGE_BYTES = 5 * 1024;

/**
 * Undefined when there is no expression, it fails, or its result is not a single line: then the fixed message is used.
 */
function saidByExpression(
  { messageExpression = '' }: ValidationRule,
  variables: Parameters<CelProgram['evaluate']>[0],
): string | undefined {
  const program = messageExpression.trim() === '' ? undefined : compiled(messageExpression);
  if (program === undefined || program instanceof Error) return undefined;
  try {
    const said = program.evaluate(variables);
    const text = typeof said === 'string' ? said.trim() : '';
    return text === '' || text.length > MAX_MESSAGE_BYTES || /[\r\n]/.test(text) ? undefined : text;
  } catch {
    // As in upstream: a failing message expression must not hide the rejection.
    return undefined;
  }
}

/** The library prints an excerpt of the rule below the first line. */
function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return text.split('\n', 1)[0] ?? text;
}

const PROGRAMS = new Map<string, CelProgram | Error>();
const MAX_PROGRAMS = 5_000;

function compiled(rule: string): CelProgram | Error {
  const known = PROGRAMS.get(rule);
  if (known !== undefined) return known;
  let program: CelProgram | Error;
  try {
    program = compileCel(rule);
  } catch (error) {
    program = toError(error);
  }
  if (PROGRAMS.size >= MAX_PROGRAMS) PROGRAMS.clear();
  PROGRAMS.set(rule, program);
  return program;
}

const WITH_RULES = new WeakMap<StructuralSchema, boolean>();

/** Most parts of a large schema have no rules and are skipped. */
export function hasRules(schema: StructuralSchema): boolean {
  const known = WITH_RULES.get(schema);
  if (known !== undefined) return known;
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(schema.allOf ?? []),
  ];
  const found = (schema['x-kubernetes-validations'] ?? []).length > 0 || parts.some(hasRules);
  WITH_RULES.set(schema, found);
  return found;
}
