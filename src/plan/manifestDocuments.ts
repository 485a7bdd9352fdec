/** Parses manifests into objects that know the line of each field. */
import { isJsonObject, type JsonObject } from '../api/schema/json.ts';
import { locator, parseYaml, YamlSyntaxError, type Locate } from '../api/yaml/parseYaml.ts';
import { mistakeText, type MistakeCode, type MistakeData } from '../errors/manifestMistakes.ts';

/** Location and description of a mistake: `web.yaml:12: …`. */
export interface Mistake {
  readonly source: string;
  readonly line: number;
  readonly code: MistakeCode;
  readonly message: string;
}

/** One document of a file. Lines are counted from the start of the file. */
class SourceDocument {
  readonly source: string;
  private readonly text: string;
  private readonly firstLine: number;
  private located: Locate | undefined;
  private lineStarts: readonly number[] | undefined;

  constructor(source: string, text: string, firstLine: number) {
    this.source = source;
    this.text = text;
    this.firstLine = firstLine;
  }

  lineAtOffset(offset: number): number {
    this.lineStarts ??= lineStarts(this.text);
    let low = 0;
    let high = this.lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return this.firstLine + low;
  }

  /** The line of a field, or undefined if it does not exist. */
  lineOf(path: readonly (string | number)[]): number | undefined {
    this.located ??= locator(this.text);
    const offset = this.located(path);
    return offset === undefined ? undefined : this.lineAtOffset(offset);
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

export class Manifest {
  readonly object: JsonObject;
  private readonly document: SourceDocument;
  /** Path of the object inside its document: empty, or its index in a List. */
  private readonly path: readonly (string | number)[];

  constructor(object: JsonObject, document: SourceDocument, path: readonly (string | number)[]) {
    this.object = object;
    this.document = document;
    this.path = path;
  }

  get source(): string {
    return this.document.source;
  }

  get apiVersion(): string {
    return textOf(this.object['apiVersion']);
  }

  get kind(): string {
    return textOf(this.object['kind']);
  }

  get metadata(): JsonObject {
    const metadata = this.object['metadata'];
    return isJsonObject(metadata) ? metadata : {};
  }

  get name(): string | undefined {
    return textOf(this.metadata['name']) || undefined;
  }

  get namespace(): string | undefined {
    return textOf(this.metadata['namespace']) || undefined;
  }

  /** `Deployment shop/web`, the prefix of mistakes. */
  get title(): string {
    const namespace = this.namespace === undefined ? '' : `${this.namespace}/`;
    return `${this.kind} ${namespace}${this.name ?? '?'}`;
  }

  /** A mistake in this object, located at the field or at its nearest existing parent. */
  mistake<Code extends MistakeCode>(field: string, code: Code, data: MistakeData<Code>): Mistake {
    const message = mistakeText(code, { title: this.title, field }, data);
    return { source: this.source, line: this.lineOf(field), code, message };
  }

  /** The first line of the object. */
  get line(): number {
    return this.lineOf('');
  }

  /** `field` in the notation of validation: `spec.containers[0].resources.requests[cpu]`. */
  private lineOf(field: string): number {
    const steps = [...field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, key, name]) => key ?? name ?? '');
    let path: readonly (string | number)[] = this.path;
    let line = this.document.lineOf(path) ?? 1;
    for (const step of steps) {
      path = [...path, step];
      const found = this.document.lineOf(path);
      if (found === undefined) break;
      line = found;
    }
    return line;
  }
}

export interface ParsedManifests {
  readonly manifests: readonly Manifest[];
  readonly mistakes: readonly Mistake[];
}

export function parseManifests(source: string, text: string): ParsedManifests {
  const manifests: Manifest[] = [];
  const mistakes: Mistake[] = [];
  for (const { document, value, error } of documentsOf(source, text)) {
    const notAnObject = (path: readonly (string | number)[]): void => {
      const message = mistakeText('NotAnObject', { title: '', field: path.join('.') }, {});
      mistakes.push({ source, line: document.lineOf(path) ?? 1, code: 'NotAnObject', message });
    };
    if (error !== undefined) {
      const message = mistakeText('NotYaml', { title: '', field: '' }, { problem: error.message });
      mistakes.push({ source, line: document.lineAtOffset(error.offset), code: 'NotYaml', message });
    } else if (isJsonObject(value)) {
      for (const { path, item } of itemsOf(value)) {
        if (isJsonObject(item)) manifests.push(new Manifest(item, document, path));
        else notAnObject(path);
      }
    } else if (value !== undefined && value !== null) notAnObject([]);
  }
  return { manifests, mistakes };
}

interface ParsedDocument {
  readonly document: SourceDocument;
  readonly value?: unknown;
  readonly error?: YamlSyntaxError;
}

const SEPARATOR = /^---(?=\s|$)/gm;

/** Documents are parsed one by one, so that an error in one does not affect the others. */
function documentsOf(source: string, text: string): ParsedDocument[] {
  const whole = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const json = parseJson(whole);
  if (json !== undefined) return [{ document: new SourceDocument(source, whole, 1), value: json }];
  const starts = [0, ...Array.from(whole.matchAll(SEPARATOR), ({ index }) => index).filter((index) => index > 0)];
  let line = 1;
  return starts.map((start, index) => {
    const part = whole.slice(start, starts[index + 1]);
    const document = new SourceDocument(source, part, line);
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) line += 1;
    try {
      return { document, value: parseYaml(part) };
    } catch (error) {
      if (error instanceof YamlSyntaxError) return { document, error };
      throw error;
    }
  });
}

/** JSON is YAML, but reading it as JSON is many times faster. */
function parseJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // It may be YAML in flow style, or several documents; the YAML parser reports errors.
    return undefined;
  }
}

/** What `kubectl get` prints is a List of objects. */
function itemsOf(
  object: JsonObject,
): readonly { readonly path: readonly (string | number)[]; readonly item: unknown }[] {
  const { items } = object;
  const isList = textOf(object['kind']).endsWith('List') && Array.isArray(items);
  if (!isList) return [{ path: [], item: object }];
  // A typed list need not say the kind of its items.
  const kind = textOf(object['kind']).slice(0, -'List'.length);
  const implied = kind === '' ? {} : { apiVersion: object['apiVersion'], kind };
  return items.map((item: unknown, index) => ({
    path: ['items', index],
    item: isJsonObject(item) ? { ...implied, ...item } : item,
  }));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
