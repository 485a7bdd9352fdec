/**
 * Compiles the JSONPath of printer columns, such as `.spec.nodeName`, `.status.conditions[?(@.type=="Ready")].status`
 * and `.items[0].x`, to a function that returns the first value found in an object.
 */
import { isFields, sameJson } from './fields.ts';

type Step = (values: readonly unknown[]) => unknown[];

const STEP =
  /^(?:\.?\[\?\(@\.([^=!<>\s]+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([^)\s]+))\)\]|\.?\[(-?\d+|\*)\]|\.?\['((?:[^'\\]|\\.)+)'\]|\.((?:[^.[\\]|\\.)+))/;

function parse(path: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  while (rest !== '' && rest !== '.') {
    const match = STEP.exec(rest);
    if (match === null) return undefined;
    const [whole, field, operator, double, single, bare, index, quoted, name] = match;
    rest = rest.slice(whole.length);
    if (field !== undefined) steps.push(filter(field, operator === '!=', double ?? single ?? literal(bare ?? '')));
    else if (index !== undefined) steps.push(item(index));
    else steps.push(member((quoted ?? name ?? '').replaceAll(/\\(.)/g, '$1')));
  }
  return steps;
}

function literal(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

const member =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => {
      if (name === '*')
        return isFields(value) ? Object.values(value) : Array.isArray(value) ? (value as unknown[]) : [];
      return isFields(value) && value[name] !== undefined ? [value[name]] : [];
    });

const item =
  (index: string): Step =>
  (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      const list = value as unknown[];
      if (index === '*') return list;
      const found = list.at(Number(index));
      return found === undefined ? [] : [found];
    });

const filter = (field: string, negated: boolean, wanted: unknown): Step => {
  const read = parse(field) ?? [];
  return (values) =>
    values.flatMap((value) =>
      (Array.isArray(value) ? (value as unknown[]) : []).filter((entry) => {
        const found = read.reduce<unknown[]>((current, step) => step(current), [entry]);
        return found.some((one) => sameJson(one, wanted)) !== negated;
      }),
    );
};

/** Returns undefined for an invalid path. */
export function compileJsonPath(path: string): ((object: unknown) => unknown) | undefined {
  const steps = parse(path);
  return steps && ((object) => steps.reduce<unknown[]>((values, step) => step(values), [object])[0]);
}
