/**
 * YAML as kubectl reads it: YAML 1.1 booleans (`N` is false), Go's integers (`0644` is octal), no dates and no base-60
 * numbers. Values come from one parse; lines of fields are determined only to report mistakes.
 */
import {
  CORE_SCHEMA,
  NOT_RESOLVED,
  YAMLException,
  boolYaml11Tag,
  constructFromEvents,
  defineScalarTag,
  mergeTag,
  parseEvents,
} from 'js-yaml';
import { NOT_PLAIN, parsePlainYaml } from './plainYaml.ts';

type YamlEvent = ReturnType<typeof parseEvents>[number];

/** Numeric ids of js-yaml's events; its type `EVENT_ID` does not narrow. */
const DOCUMENT = 1;
const SEQUENCE = 2;
const MAPPING = 3;
const SCALAR = 4;
const ALIAS = 5;
const POP = 6;

/** Limit on nodes of a document with its aliases expanded, because nested aliases could fill any memory. */
const MAX_NODES = 2_000_000;

const GO_INTEGER = /^[-+]?(0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)$/;

const integerTag = defineScalarTag('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: '-+0123456789'.split(''),
  identify: () => false,
  resolve: (text) => {
    if (!GO_INTEGER.test(text)) return NOT_RESOLVED;
    const digits = text.replaceAll('_', '').replace(/^[-+]/, '');
    const value = Number(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
    return text.startsWith('-') ? -value : value;
  },
});

const SCHEMA = CORE_SCHEMA.withTags(boolYaml11Tag, integerTag, mergeTag);

export class YamlSyntaxError extends Error {
  override readonly name = 'YamlSyntaxError';
  /** Offset of the first error in the text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** The value of a text with one document; undefined for an empty one. Throws `YamlSyntaxError`. */
export function parseYaml(text: string): unknown {
  const plain = parsePlainYaml(text);
  if (plain !== NOT_PLAIN) return plain;
  const values = parseYamlDocuments(text);
  if (values.length > 1) throw new YamlSyntaxError('it has several documents instead of one', 0);
  return values[0];
}

/** The values of all documents. Throws `YamlSyntaxError`. */
export function parseYamlDocuments(text: string): readonly unknown[] {
  try {
    const events = parseEvents(text, {});
    checkSize(text, events);
    return constructFromEvents(events, { source: text, schema: SCHEMA });
  } catch (error) {
    if (error instanceof YAMLException) throw new YamlSyntaxError(error.reason, error.mark?.position ?? 0);
    throw error;
  }
}

function checkSize(text: string, events: readonly YamlEvent[]): void {
  if (!events.some(({ type }) => type === ALIAS)) return;
  const sizes = new Map<string, number>();
  const open: { anchor: string | undefined; size: number }[] = [{ anchor: undefined, size: 0 }];
  const add = (amount: number): void => {
    const top = open.at(-1);
    if (top !== undefined) top.size += amount;
  };
  const anchorOf = (event: { readonly anchorStart: number; readonly anchorEnd: number }): string | undefined =>
    event.anchorStart < 0 ? undefined : text.slice(event.anchorStart, event.anchorEnd);
  for (const event of events) {
    if (event.type === SEQUENCE || event.type === MAPPING) open.push({ anchor: anchorOf(event), size: 1 });
    else if (event.type === SCALAR) add(1);
    else if (event.type === ALIAS) add(sizes.get(anchorOf(event) ?? '') ?? 1);
    else if (event.type === POP) {
      const closed = open.pop();
      if (closed?.anchor !== undefined) sizes.set(closed.anchor, closed.size);
      add(closed?.size ?? 0);
    }
    if ((open.at(-1)?.size ?? 0) > MAX_NODES) {
      throw new YamlSyntaxError('its aliases multiply beyond measure', 0);
    }
  }
}

/** The offset of a field's value; undefined if there is no such field. */
export type Locate = (path: readonly (string | number)[]) => number | undefined;

export function locator(text: string): Locate {
  const root = tree(text, parseEvents(text, {}));
  return (path) => {
    let place: Place | undefined = root;
    for (const step of path) place = place?.children.get(String(step));
    return place?.offset;
  };
}

interface Place {
  readonly offset: number;
  readonly children: Map<string, Place>;
}

interface OpenPlace extends Place {
  readonly isMapping: boolean;
  key: string | undefined;
  length: number;
}

function tree(text: string, events: readonly YamlEvent[]): Place {
  const root: OpenPlace = { offset: 0, children: new Map(), isMapping: false, key: undefined, length: 0 };
  const open: OpenPlace[] = [root];
  const put = (place: Place, keyText: string): void => {
    const parent = open.at(-1);
    if (parent === undefined) return;
    if (!parent.isMapping) parent.children.set(String(parent.length++), place);
    else if (parent.key === undefined) parent.key = keyText;
    else {
      parent.children.set(parent.key, place);
      parent.key = undefined;
    }
  };
  for (const event of events) {
    if (event.type === SEQUENCE || event.type === MAPPING) {
      const place: OpenPlace = {
        offset: event.start,
        children: new Map(),
        isMapping: event.type === MAPPING,
        key: undefined,
        length: 0,
      };
      put(place, '');
      open.push(place);
    } else if (event.type === SCALAR) {
      // An empty value has no position: use that of its key.
      const parent = open.at(-1);
      const offset = event.valueStart < 0 ? (parent?.offset ?? 0) : event.valueStart;
      put({ offset, children: new Map() }, text.slice(event.valueStart, event.valueEnd));
    } else if (event.type === ALIAS) put({ offset: event.anchorStart, children: new Map() }, '');
    else if (event.type === POP && open.length > 1) open.pop();
    else if (event.type === DOCUMENT) continue;
  }
  return root.children.get('0') ?? root;
}
