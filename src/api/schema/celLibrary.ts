/**
 * The CEL dialect of Kubernetes on top of the CEL library: compiles the text of a rule to a function that evaluates it.
 * Some built-ins of the library differ from Go's; rules are rewritten to call ours instead.
 */
import { EvaluationError } from './evaluationError.ts';
import { Environment, parse, serialize } from '@marcbachmann/cel-js';
import { Quantity } from '../../units/quantity.ts';
import { findPattern, matchesPattern } from './pattern.ts';

type CelContext = Readonly<Record<'self' | 'oldSelf', unknown>>;

export interface CelProgram {
  readonly usesOldSelf: boolean;
  /** Throws where Kubernetes would report an evaluation error. */
  evaluate(context: CelContext): unknown;
}

/** Functions whose built-in version differs from Kubernetes', and our replacements. */
const REPLACED: Readonly<Record<string, string>> = {
  int: 'kubernetesInt',
  matches: 'kubernetesMatches',
  lowerAscii: 'kubernetesLowerAscii',
  upperAscii: 'kubernetesUpperAscii',
};

/** Throws when the rule cannot be parsed or calls an unsupported function. */
export function compileCel(rule: string): CelProgram {
  const tree = parse(rule).ast;
  const rewritten = serialize(rewrite(tree) as typeof tree);
  const checked = celRuntime().environment.check(rewritten);
  if (!checked.valid) throw checked.error ?? new Error(`invalid rule: ${rule}`);
  const program = celRuntime().environment.parse(rewritten);
  return {
    usesOldSelf: mentions(tree, 'oldSelf'),
    evaluate: (context) => program(context) as unknown,
  };
}

interface Node {
  readonly op: string;
  readonly args: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

function rewrite(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => rewrite(item));
  if (!isNode(value)) return value;
  const copy: unknown = Object.create(Object.getPrototypeOf(value) as object, Object.getOwnPropertyDescriptors(value));
  return Object.defineProperty(copy as object, 'args', {
    value: rewriteArguments(value),
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function rewriteArguments(node: Node): unknown {
  if (node.op === 'value' || node.op === 'id') return node.args;
  if ((node.op === 'call' || node.op === 'rcall') && Array.isArray(node.args)) {
    const [name, ...rest] = node.args as [string, ...unknown[]];
    return [REPLACED[name] ?? name, ...rest.map((argument) => rewrite(argument))];
  }
  return rewrite(node.args);
}

function mentions(value: unknown, variable: string): boolean {
  if (Array.isArray(value)) return value.some((item) => mentions(item, variable));
  if (!isNode(value)) return false;
  return value.op === 'id' ? value.args === variable : mentions(value.args, variable);
}

const MAX_INT = 2n ** 63n - 1n;
const MIN_INT = -(2n ** 63n);

function parseInteger(text: string): bigint {
  if (!/^[+-]?[0-9]+$/.test(text))
    throw new EvaluationError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = BigInt(text.replace(/^\+/, ''));
  if (value > MAX_INT || value < MIN_INT)
    throw new EvaluationError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  return value;
}

function truncate(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) throw new EvaluationError('range error converting to int');
  return BigInt(Math.trunc(value));
}

type Comparable = string | number | bigint | boolean;

function compare(left: Comparable, right: Comparable): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function smallest(list: readonly Comparable[], sign: 1 | -1): Comparable {
  const [first, ...rest] = list;
  if (first === undefined) throw new EvaluationError('min and max need at least one element');
  return rest.reduce((best, each) => (compare(each, best) * sign < 0 ? each : best), first);
}

function asciiCase(text: string, from: RegExp, shift: number): string {
  return text.replaceAll(from, (letter) => String.fromCharCode(letter.charCodeAt(0) + shift));
}

function buildEnvironment(): Environment {
  const environment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true });
  environment.registerVariable('self', 'dyn').registerVariable('oldSelf', 'dyn');
  environment.registerType('kubernetes.Quantity', Quantity);

  const functions: Readonly<Record<string, (...values: never[]) => unknown>> = {
    'kubernetesInt(string): int': parseInteger,
    'kubernetesInt(int): int': (value: bigint) => value,
    'kubernetesInt(double): int': truncate,
    'string.kubernetesMatches(string): bool': (text: string, pattern: string) => matchesPattern(pattern, text),
    'string.kubernetesLowerAscii(): string': (text: string) => asciiCase(text, /[A-Z]/g, 32),
    'string.kubernetesUpperAscii(): string': (text: string) => asciiCase(text, /[a-z]/g, -32),
    'string.find(string): string': (text: string, pattern: string) => findPattern(pattern, text, 1)[0] ?? '',
    'string.findAll(string): list<string>': (text: string, pattern: string) => findPattern(pattern, text, Infinity),
    'string.findAll(string, int): list<string>': (text: string, pattern: string, limit: bigint) =>
      findPattern(pattern, text, limit < 0n ? Infinity : Number(limit)),
    'string.charAt(int): string': (text: string, at: bigint) => Array.from(text)[Number(at)] ?? '',
    'string.replace(string, string): string': (text: string, from: string, to: string) => text.split(from).join(to),
    'list.isSorted(): bool': (list: Comparable[]) =>
      list.every((each, at) => at === 0 || compare(list[at - 1] ?? each, each) <= 0),
    'list.min(): dyn': (list: Comparable[]) => smallest(list, 1),
    'list.max(): dyn': (list: Comparable[]) => smallest(list, -1),
    'list.indexOf(dyn): int': (list: unknown[], value: unknown) => BigInt(list.indexOf(value)),
    'list.lastIndexOf(dyn): int': (list: unknown[], value: unknown) => BigInt(list.lastIndexOf(value)),
    'isQuantity(string): bool': (text: string) => Quantity.tryParse(text) !== undefined,
    'quantity(string): kubernetes.Quantity': (text: string) => Quantity.parse(text),
    'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool': (left: Quantity, right: Quantity) =>
      left.compare(right) > 0,
    'kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool': (left: Quantity, right: Quantity) =>
      left.compare(right) < 0,
    'kubernetes.Quantity.compareTo(kubernetes.Quantity): int': (left: Quantity, right: Quantity) =>
      BigInt(left.compare(right)),
    'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity': (left: Quantity, right: Quantity) =>
      left.add(right),
    'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity': (left: Quantity, right: Quantity) =>
      left.subtract(right),
    'kubernetes.Quantity.sign(): int': (value: Quantity) => BigInt(value.sign()),
  };
  for (const [signature, implementation] of Object.entries(functions)) {
    environment.registerFunction(signature, implementation as (...values: unknown[]) => unknown);
  }
  return environment;
}

interface CelRuntime {
  readonly environment: Environment;
  toTimestamp(context: { readonly self: string }): unknown;
  toDuration(context: { readonly self: string }): unknown;
}

let runtime: CelRuntime | undefined;

/** Created when the first rule is compiled: most commands never need it, and it takes tens of milliseconds. */
function celRuntime(): CelRuntime {
  if (runtime === undefined) {
    const environment = buildEnvironment();
    runtime = {
      environment,
      toTimestamp: environment.parse('timestamp(self)'),
      toDuration: environment.parse('duration(self)'),
    };
  }
  return runtime;
}

/** The CEL values of strings with a special format. */
export const celTimestamp = (text: string): unknown => celRuntime().toTimestamp({ self: text });
export const celDuration = (text: string): unknown => celRuntime().toDuration({ self: text });
