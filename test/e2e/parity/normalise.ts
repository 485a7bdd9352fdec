/**
 * Replaces values that may differ between two correct servers (identities, times, versions, addresses, random suffixes)
 * by placeholders that depend only on the order of appearance.
 */
import type { Answer } from './script.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const PRINTED_TIME = /\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g;
const FILE_TIME = /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g;
const LOG_TIME = /^([WEI])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+/gm;
const CLUSTER_ADDRESS = /\b10\.0\.\d{1,3}\.\d{1,3}\b/g;
/** Seconds, minutes, and the years since the dates in manifests; `100m` is an amount. */
const AGE = /\b(\d+y(\d+d)?|\d{3}d|\d{1,3}s|\d{1,2}m(\d+s)?)\b/g;
const ACCESS_VOLUME = /kube-api-access-[a-z0-9]{5}/g;
const VERSION_IN_MESSAGE = /(resource version: ?|current: ?|in record )\(?\d+\)?( \(\d+\))?/gi;
const TOKEN = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const NODE_PORT_RANGE = [30_000, 32_767] as const;

/**
 * A loop of the real server that checks addresses every few minutes. If it runs while a service is being created, it
 * leaves a warning event, which depends only on timing.
 */
const REPAIRER = 'ipallocator-repair-controller';
const EMPTY_EVENTS = /Events:\n +Type .*\n +-+ .*\n(?! )/;

export class Normaliser {
  private readonly seen = new Map<string, string>();
  private readonly suffixes: string[] = [];
  private readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  answer(answer: Answer): unknown {
    const { contentType, warnings, retryAfter, code } = answer;
    return {
      code,
      contentType,
      ...(warnings.length === 0 ? {} : { warnings: warnings.map((one) => this.text(one)) }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      body: this.value(answer.body, []),
    };
  }

  /** Plain text, such as kubectl prints. */
  text(text: string): string {
    let result = text.replaceAll(this.url, '<server>').replaceAll(this.url.replace('https://', ''), '<server>');
    for (const suffix of this.suffixes) result = result.replaceAll(suffix, '<suffix>');
    return result
      .replaceAll(TOKEN, '<token>')
      .replaceAll(UUID, (uid) => this.name('uid', uid))
      .replaceAll(TIME, '<time>')
      .replaceAll(CLUSTER_ADDRESS, '<address>')
      .replaceAll(ACCESS_VOLUME, 'kube-api-access-<suffix>')
      .replaceAll(VERSION_IN_MESSAGE, '$1<version>');
  }

  /** Output of kubectl: readable times and ages, and columns as wide as their content. */
  printed(text: string): string {
    const named = this.text(text)
      .replaceAll(PRINTED_TIME, '<time>')
      .replaceAll(/(resourceVersion: "?)\d+"?/gi, '$1<version>')
      .replaceAll(/("resourceVersion": ?")\d+"/g, '$1<version>"')
      .replaceAll(FILE_TIME, '<time>')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, '<time>')
      .replaceAll(/kubectl-edit-\d+/g, 'kubectl-edit')
      .replaceAll(/(version to be \d+, was )\d+/g, '$1<version>')
      .replaceAll(LOG_TIME, '$1<time>')
      .replaceAll(/X509SHA256=\w+/g, '<credential>')
      .replaceAll(/(Resource Version: +)\d+/g, '$1<version>')
      .replaceAll(/(nodePort: |NodePort: +(?:\S+ +)?|healthCheckNodePort: )\d+/g, '$1<node-port>')
      .replaceAll(/:3[0-2]\d{3}\/(?=TCP|UDP)/g, ':<node-port>/')
      .replaceAll(/\/tmp\/(LIVE|MERGED)-\d+/g, '/tmp/$1')
      .replaceAll(AGE, '<age>')
      .replaceAll(/<invalid>/g, '<age>');
    const tight = named
      .split('\n')
      .filter((line) => !line.includes(REPAIRER))
      .map((line) => line.replaceAll(/(?<=\S) {2,}/g, '  ').trimEnd())
      .join('\n');
    return named.includes(REPAIRER) ? tight.replace(EMPTY_EVENTS, 'Events:  <none>\n') : tight;
  }

  private name(kind: string, value: string): string {
    const key = `${kind}:${value}`;
    const known = this.seen.get(key);
    if (known !== undefined) return known;
    const made = `<${kind}-${[...this.seen.keys()].filter((one) => one.startsWith(`${kind}:`)).length + 1}>`;
    this.seen.set(key, made);
    return made;
  }

  private value(value: unknown, path: readonly string[]): unknown {
    if (Array.isArray(value)) {
      const items = ordered(path.at(-1), value);
      return items.map((item, index) => this.value(item, [...path, `[${index}]`]));
    }
    if (typeof value === 'object' && value !== null) return this.fields(value as Record<string, unknown>, path);
    const name = path.at(-1) ?? '';
    if (typeof value === 'number' && name === 'nodePort') {
      return value >= NODE_PORT_RANGE[0] && value <= NODE_PORT_RANGE[1] ? '<node-port>' : value;
    }
    if (typeof value !== 'string') return value;
    if (name === 'resourceVersion' && value !== '') return this.version(value, path);
    if (name === 'continue' && value !== '') return '<continue>';
    if (path.at(-2) === 'cells') return this.text(value).replaceAll(AGE, '<age>');
    // Descriptions are our own texts; compare only that there is one.
    if (path.includes('columnDefinitions') && name === 'description') return '<prose>';
    if (path.includes('authentication.kubernetes.io/credential-id')) return '<credential>';
    return this.text(value);
  }

  /** A list's version is the server's and moves with every write; an object's is its own. */
  private version(value: string, path: readonly string[]): string {
    return path.includes('items') || path.includes('object') || path.length > 2 || this.inObject
      ? this.name('version', value)
      : '<version>';
  }

  private inObject = false;

  private fields(value: Record<string, unknown>, path: readonly string[]): unknown {
    const metadata = value['metadata'] as Record<string, unknown> | undefined;
    const { generateName, name } = metadata ?? {};
    if (typeof generateName === 'string' && typeof name === 'string' && name.startsWith(generateName)) {
      this.suffixes.push(name.slice(generateName.length));
    }
    const isRoot = path.length === 0;
    if (isRoot) this.inObject = metadata?.['uid'] !== undefined;
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(value).sort()) result[this.text(key)] = this.value(value[key], [...path, key]);
    return result;
  }
}

function ordered(field: string | undefined, items: readonly unknown[]): readonly unknown[] {
  if (field === 'causes') return inOrder(items);
  return field === 'managedFields' ? byManager(items) : items;
}

/**
 * A server sorts these by the second of the write, so two writes across a second boundary may be swapped. Each side is
 * checked for the sorting rule; the same entries are compared without the time.
 */
function byManager(entries: readonly unknown[]): readonly unknown[] {
  const rank = (entry: unknown, time: boolean): string => {
    const field = entry as Record<string, string | undefined>;
    const names = ['operation', ...(time ? ['time'] : []), 'manager', 'apiVersion', 'subresource'];
    return names.map((name) => field[name] ?? '').join('\0');
  };
  const sorted = (time: boolean): readonly unknown[] =>
    [...entries].sort((left, right) => (rank(left, time) < rank(right, time) ? -1 : 1));
  const isByAge = sorted(true).every((entry, index) => entry === entries[index]);
  return isByAge ? sorted(false) : entries;
}

/** Conflicts come out of a Go map, in no order at all. */
function inOrder(causes: readonly unknown[]): readonly unknown[] {
  const isConflict = causes.every((cause) => (cause as { reason?: unknown }).reason === 'FieldManagerConflict');
  return isConflict
    ? causes
        .map((cause) => JSON.stringify(cause))
        .sort()
        .map((text) => JSON.parse(text) as unknown)
    : causes;
}

export interface Difference {
  readonly path: string;
  readonly local: unknown;
  readonly real: unknown;
}

/** Where two normalised values differ, as paths such as `[2].body.status.phase`. */
export function differences(local: unknown, real: unknown, path = ''): Difference[] {
  if (Object.is(local, real)) return [];
  if (Array.isArray(local) && Array.isArray(real)) {
    if (local.length !== real.length && !(typeof local[0] === 'object' && Math.abs(local.length - real.length) < 4)) {
      return [{ path, local, real }];
    }
    return Array.from({ length: Math.max(local.length, real.length) }).flatMap((_, index) =>
      differences(local[index], real[index], `${path}[${index}]`),
    );
  }
  if (isFields(local) && isFields(real)) {
    return [...new Set([...Object.keys(local), ...Object.keys(real)])].flatMap((key) =>
      differences(local[key], real[key], path === '' ? key : `${path}.${key}`),
    );
  }
  return [{ path, local, real }];
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
