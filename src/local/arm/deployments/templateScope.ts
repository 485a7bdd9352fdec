/** Evaluates parameters, variables and expressions of an ARM template. */
import { asText, at, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { refusal } from '../refusal.ts';
import { expressionIn, parseExpression, type Expression } from './templateExpression.ts';
import { TEMPLATE_FUNCTIONS } from './templateFunctions.ts';

/** The target of a deployment. */
export interface DeploymentSite {
  readonly subscriptionId: string;
  readonly tenantId: string;
  readonly deploymentName: string;
  /** The resource group as `resourceGroup()` returns it. */
  readonly group: JsonObject;
  /** Returns a resource for `reference`; undefined while it is missing or unfinished. */
  readonly find: (id: string) => JsonObject | undefined;
}

/** A `reference` to a resource that does not exist yet: the expression may be evaluated again later. */
export class PendingReference extends Error {
  readonly id: string;

  constructor(id: string) {
    super(`The resource '${id}' is not there yet.`);
    this.id = id;
  }
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  securestring: (value) => typeof value === 'string',
  int: (value) => Number.isInteger(value),
  bool: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  secureobject: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

export class TemplateScope {
  readonly template: JsonObject;
  private readonly site: DeploymentSite;
  private readonly given: JsonObject;
  private readonly variables = new Map<string, unknown>();
  private readonly parameters = new Map<string, unknown>();
  private readonly copies: ReadonlyMap<string, number>;
  /** Functions that depend on the template or its target. */
  private readonly functions: Readonly<
    Record<string, (words: readonly string[], args: readonly unknown[]) => unknown>
  > = {
    parameters: ([name = '']) => this.parameter(name),
    variables: ([name = '']) => this.variable(name),
    resourcegroup: () => this.site.group,
    subscription: () => {
      const { subscriptionId, tenantId } = this.site;
      return { id: `/subscriptions/${subscriptionId}`, subscriptionId, tenantId, displayName: 'nodewright local' };
    },
    tenant: () => ({ tenantId: this.site.tenantId }),
    deployment: () => ({ name: this.site.deploymentName }),
    resourceid: (words) => this.resourceId(words),
    subscriptionresourceid: (words) => this.subscriptionResourceId(words),
    extensionresourceid: ([scope = '', type = '', ...names]) => `${scope}/providers/${joined(type, names)}`,
    reference: ([name = '', _apiVersion, full]) => this.reference(name, full),
    copyindex: (_words, args) => this.copyIndex(args),
  };

  constructor(
    template: JsonObject,
    given: JsonObject,
    site: DeploymentSite,
    copies: ReadonlyMap<string, number> = new Map(),
  ) {
    this.template = template;
    this.given = given;
    this.site = site;
    this.copies = copies;
  }

  /** Returns the scope of one iteration of a copy loop. */
  inCopy(name: string, index: number): TemplateScope {
    const copies = new Map([...this.copies, [name, index], ['', index]]);
    return new TemplateScope(this.template, this.given, this.site, copies);
  }

  /** Throws for parameters that are missing, unknown, of the wrong type or not allowed. */
  checkParameters(): void {
    const declared = objectAt(this.template, 'parameters');
    const known = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
    const unknown = Object.keys(this.given).filter((name) => !known.has(name.toLowerCase()));
    if (unknown.length > 0) {
      const names = Object.keys(declared).join(', ');
      throw refusal('InvalidTemplate.unknownParameters', { unknown: unknown.join(', '), names });
    }
    for (const name of Object.keys(declared)) this.parameter(name);
  }

  /** Returns the parameters to store with the deployment: all values but those of secrets. */
  usedParameters(): JsonObject {
    return Object.fromEntries(
      Object.entries(objectAt(this.template, 'parameters')).map(([name, declaration]) => {
        const type = textAt(declaration, 'type') ?? 'String';
        return [name, type.toLowerCase().startsWith('secure') ? { type } : { type, value: this.parameter(name) }];
      }),
    );
  }

  outputs(): JsonObject {
    return Object.fromEntries(
      Object.entries(objectAt(this.template, 'outputs'))
        .filter(([, output]) => this.isWanted(objectAt(output)))
        .map(([name, output]) => [
          name,
          { type: textAt(output, 'type') ?? 'String', value: this.evaluate(at(output, 'value')) },
        ]),
    );
  }

  isWanted(part: JsonObject): boolean {
    return part['condition'] === undefined || this.evaluate(part['condition']) === true;
  }

  /** Returns the value with all expressions in it evaluated. */
  evaluate(value: unknown): unknown {
    if (typeof value === 'string') {
      const expression = expressionIn(value);
      if (expression === undefined) return value.startsWith('[[') ? value.slice(1) : value;
      return this.compute(parseExpression(expression));
    }
    if (Array.isArray(value)) return value.map((each) => this.evaluate(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [asText(this.evaluate(key)), this.evaluate(each)]),
    );
  }

  private compute(expression: Expression): unknown {
    if (expression.kind === 'value') return expression.value;
    if (expression.kind === 'member') return memberOf(this.compute(expression.of), this.compute(expression.key));
    // Only the chosen branch is evaluated: the other may refer to missing resources.
    if (expression.name === 'if') {
      const [condition, yes, no] = expression.args;
      const chosen = condition !== undefined && this.compute(condition) === true ? yes : no;
      return chosen && this.compute(chosen);
    }
    return this.call(
      expression.name,
      expression.args.map((each) => this.compute(each)),
    );
  }

  private call(name: string, args: readonly unknown[]): unknown {
    const own = Object.hasOwn(this.functions, name) ? this.functions[name] : undefined;
    if (own !== undefined) return own(args.map(asText), args);
    const known = Object.hasOwn(TEMPLATE_FUNCTIONS, name) ? TEMPLATE_FUNCTIONS[name] : undefined;
    if (known !== undefined) return known(args);
    throw refusal('InvalidTemplate.function', { name });
  }

  private parameter(name: string): unknown {
    const known = this.parameters.get(name.toLowerCase());
    if (known !== undefined) return known;
    const declared = entryOf(objectAt(this.template, 'parameters'), name);
    if (declared === undefined) throw refusal('InvalidTemplate.parameter', { name });
    const given = entryOf(this.given, name);
    const declaration = objectAt(declared);
    const value = given === undefined ? this.evaluate(declaration['defaultValue']) : at(given, 'value');
    if (value === undefined) throw refusal('InvalidTemplate.parameterValue', { name });
    checkParameter(name, value, declaration);
    this.parameters.set(name.toLowerCase(), value);
    return value;
  }

  private variable(name: string): unknown {
    const key = name.toLowerCase();
    if (this.variables.has(key)) return this.variables.get(key);
    const declared = entryOf(objectAt(this.template, 'variables'), name);
    if (declared === undefined) throw refusal('InvalidTemplate.variable', { name });
    const value = this.evaluate(declared);
    this.variables.set(key, value);
    return value;
  }

  /** `[subscription,] [group,] type, name, …`: everything before the type is optional. */
  private resourceId(words: readonly string[]): string {
    const at = words.findIndex((word) => word.includes('/'));
    const before = words.slice(0, Math.max(at, 0)).toReversed();
    const [group = asText(this.site.group['name']), subscription = this.site.subscriptionId] = before;
    return `/subscriptions/${subscription}/resourceGroups/${group}/providers/${joined(words[at] ?? '', words.slice(at + 1))}`;
  }

  private subscriptionResourceId(words: readonly string[]): string {
    const at = words.findIndex((word) => word.includes('/'));
    const subscription = at > 0 ? words[0] : this.site.subscriptionId;
    return `/subscriptions/${subscription ?? ''}/providers/${joined(words[at] ?? '', words.slice(at + 1))}`;
  }

  private reference(name: string, full: string | undefined): unknown {
    const id = name.startsWith('/') ? name : this.idOfName(name);
    const found = this.site.find(id);
    if (found === undefined) throw new PendingReference(id);
    return full?.toLowerCase() === 'full' ? found : found['properties'];
  }

  /** Returns the id of a resource of this template by its name or symbol. */
  private idOfName(name: string): string {
    const resources = this.template['resources'];
    const all = Array.isArray(resources) ? resources : Object.entries(objectAt(resources));
    for (const each of all as readonly unknown[]) {
      const [symbol, resource] = Array.isArray(each) ? [String(each[0]), each[1] as unknown] : ['', each];
      const own = asText(this.evaluate(at(resource, 'name')));
      if (own === name || symbol === name) {
        return this.resourceId([asText(this.evaluate(at(resource, 'type'))), ...own.split('/')]);
      }
    }
    throw refusal('InvalidTemplate.reference', { name });
  }

  private copyIndex([first, second]: readonly unknown[]): number {
    const name = typeof first === 'string' ? first : '';
    const index = this.copies.get(name.toLowerCase());
    if (index === undefined) throw refusal('InvalidTemplate.copyIndex');
    const offset = typeof first === 'number' ? first : second;
    return index + (typeof offset === 'number' ? offset : 0);
  }
}

function checkParameter(name: string, value: unknown, declaration: JsonObject): void {
  const type = textAt(declaration, 'type') ?? 'string';
  if (TYPES[type.toLowerCase()]?.(value) !== true) throw refusal('InvalidTemplate.type', { type, name });
  const allowed = declaration['allowedValues'];
  if (Array.isArray(allowed) && !allowed.some((each) => JSON.stringify(each) === JSON.stringify(value))) {
    const values = allowed.map(asText).join(',');
    throw refusal('InvalidTemplate.allowedValues', { value: asText(value), name, values });
  }
  const length = typeof value === 'string' || Array.isArray(value) ? value.length : Number(value);
  const what = typeof value === 'number' ? 'Value' : 'Length';
  const [least, most] = [declaration[`min${what}`], declaration[`max${what}`]];
  if ((typeof least === 'number' && length < least) || (typeof most === 'number' && length > most)) {
    throw refusal('InvalidTemplate.bounds', { name, what });
  }
}

function memberOf(value: unknown, key: unknown): unknown {
  const found = Array.isArray(value)
    ? (value as readonly unknown[])[Number(key)]
    : entryOf(objectAt(value), asText(key));
  if (found !== undefined) return found;
  throw refusal('InvalidTemplate.property', { key: asText(key), names: Object.keys(objectAt(value)).join(', ') });
}

/** Returns a member by name; names in templates ignore case. */
function entryOf(values: JsonObject, name: string): unknown {
  if (values[name] !== undefined) return values[name];
  return Object.entries(values).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}

/** Returns the path of a type and one name for each of its segments. */
function joined(type: string, names: readonly string[]): string {
  const [namespace = '', ...steps] = type.split('/');
  return [namespace, ...steps.flatMap((step, index) => [step, names[index] ?? ''])].join('/');
}
