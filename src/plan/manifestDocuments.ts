/**
 * Text to objects that know where they were written. In: YAML or JSON with any number of documents and Lists. Out: one
 * entry for each object, and one line for each document that cannot be read; neither keeps the others from being read.
 */
import { toError } from '../errors/thrown.ts';
import { LineCounter, isNode, parseAllDocuments, type Document } from 'yaml';
import { isJsonObject, type JsonObject } from '../api/schema/json.ts';

/** Where a mistake is and what it is: `web.yaml:12: …`. */
export interface Mistake {
  readonly source: string;
  readonly line: number;
  readonly message: string;
}

export class Manifest {
  readonly source: string;
  readonly object: JsonObject;
  private readonly document: Document;
  private readonly lines: LineCounter;
  /** Of the object inside its document: empty, or where it stands in a List. */
  private readonly path: readonly (string | number)[];

  constructor(
    source: string,
    object: JsonObject,
    document: Document,
    lines: LineCounter,
    path: readonly (string | number)[],
  ) {
    this.source = source;
    this.object = object;
    this.document = document;
    this.lines = lines;
    this.path = path;
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

  /** `Deployment shop/web`, as mistakes begin. */
  get title(): string {
    const namespace = this.namespace === undefined ? '' : `${this.namespace}/`;
    return `${this.kind} ${namespace}${this.name ?? '?'}`;
  }

  /** A mistake in this object, at the field where it is, or at the nearest that exists. */
  mistake(field: string, message: string): Mistake {
    return { source: this.source, line: this.lineOf(field), message };
  }

  /** `field` as validation writes it: `spec.containers[0].resources.requests[cpu]`. */
  private lineOf(field: string): number {
    const steps = [...field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, key, name]) => key ?? name ?? '');
    let path: (string | number)[] = [...this.path];
    let line = this.lineAt(path);
    for (const step of steps) {
      const known = [step, Number(step)].find((key) => this.document.hasIn([...path, key]));
      if (known === undefined) break;
      path = [...path, known];
      line = this.lineAt(path) ?? line;
    }
    return line ?? 1;
  }

  private lineAt(path: readonly (string | number)[]): number | undefined {
    const node = path.length === 0 ? this.document.contents : this.document.getIn(path, true);
    return isNode(node) && node.range ? this.lines.linePos(node.range[0]).line : undefined;
  }
}

export interface ParsedManifests {
  readonly manifests: readonly Manifest[];
  readonly mistakes: readonly Mistake[];
}

export function parseManifests(source: string, text: string): ParsedManifests {
  const lines = new LineCounter();
  const manifests: Manifest[] = [];
  const mistakes: Mistake[] = [];
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })) {
    if (!('contents' in document)) continue;
    const [error] = document.errors;
    const add = (line: number, message: string): number => mistakes.push({ source, line, message });
    if (error !== undefined) {
      add(lines.linePos(error.pos[0]).line, `this is not YAML: ${firstLine(error.message)}`);
      continue;
    }
    if (document.contents === null) continue;
    const line = lines.linePos(document.contents.range?.[0] ?? 0).line;
    const object = toJson(document);
    if (object instanceof Error) add(line, `this cannot be read: ${firstLine(object.message)}`);
    else if (object === null) continue;
    else if (!isJsonObject(object)) add(line, 'this is no Kubernetes object');
    else {
      for (const { path, item } of itemsOf(object)) {
        if (isJsonObject(item)) manifests.push(new Manifest(source, item, document, lines, path));
        else add(line, `${path.join('.')} is no Kubernetes object`);
      }
    }
  }
  return { manifests, mistakes };
}

/** Aliases that multiply without end are refused by the parser. */
function toJson(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return toError(error);
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

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
