/** Parses bodies of requests; errors have the messages of upstream's decoder. */
import { parseYaml } from '../../../api/yaml/parseYaml.ts';
import { isFields, joinPath, jsonType, type Fields } from '../fields.ts';
import { badRequest, unsupportedMediaType } from '../status.ts';
import type { ApiRequest } from './message.ts';
import { decodeProtobuf } from './protobuf.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const BODY_TYPES = ['application/json', 'application/yaml'];
/** Maximum number of bytes of a body in an error message. */
const MAX_SHOWN = 30;
/** More levels than any kind has. */
const MAX_DEPTH = 300;
const GO_TYPE_HEADER = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

export function mediaType(request: ApiRequest): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
}

/** Returns Go's message for text that `JSON.parse` or the YAML parser rejects. */
function syntaxError(text: string): string {
  let depth = 0;
  let index = 0;
  while (index < text.length) {
    const character = text[index] ?? '';
    if ('{['.includes(character)) depth++;
    if ('}]'.includes(character)) depth--;
    index = character === '"' ? endOfString(text, index) : index + 1;
  }
  // The index is beyond the text after an unterminated string.
  if (text.trim() === '' || depth > 0 || index > text.length) return 'unexpected end of JSON input';
  return `invalid character '${text.trim()[0] ?? ''}' looking for beginning of value`;
}

/** Parses JSON or, by content type, YAML or protobuf. `explain` returns the error message for the operation. */
function parseBody(request: ApiRequest, explain: (why: string, text: string) => string): unknown {
  const type = mediaType(request);
  if (type === PROTOBUF) return decodeProtobuf(request.body);
  const isYaml = type.endsWith('yaml');
  if (!isYaml && type !== '' && !type.endsWith('json')) throw unsupportedMediaType([...BODY_TYPES, PROTOBUF]);
  const text = request.body.toString('utf8');
  let value: unknown;
  try {
    value = isYaml ? parseYaml(text) : JSON.parse(text);
  } catch {
    throw badRequest(explain(syntaxError(text), text));
  }
  if (isDeeper(value, MAX_DEPTH)) throw badRequest(explain('exceeded max depth', ''));
  return value;
}

/** Whether a value has more levels, or a member `__proto__`, which would become the prototype of a copy. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0 || Object.hasOwn(value, '__proto__')) return true;
  return Object.values(value).some((member) => isDeeper(member, levels - 1));
}

export function parsePatch(request: ApiRequest): unknown {
  return parseBody(request, (why) => `error decoding patch: ${why}`);
}

/** Parses an object. `kind`: the kind of the requested resource; undefined for delete options. */
export function parseObject(request: ApiRequest, kind: string | undefined): Fields {
  const prefix = kind === undefined ? '' : `the object provided is unrecognized (must be of type ${kind}): `;
  const shown = (text: string): string => {
    if (kind === undefined) return '';
    const start = Buffer.from(text).subarray(0, MAX_SHOWN);
    const more = Buffer.byteLength(text) > MAX_SHOWN ? ' ...' : '';
    return ` (${text.startsWith('{') ? start.toString() : start.toString('hex')}${more})`;
  };
  const explain = (why: string, text: string): string =>
    `${prefix}couldn't get version/kind; json parse error: ${why}${shown(text)}`;
  const body = parseBody(request, explain);
  const refuse = (found: unknown, into: string): Error => {
    const why = `json: cannot unmarshal ${jsonType(found)} into Go ${into}`;
    return badRequest(explain(why, request.body.toString('utf8')));
  };
  if (!isFields(body)) throw refuse(body, `value of type ${GO_TYPE_HEADER}`);
  for (const field of ['apiVersion', 'kind']) {
    const found = body[field] ?? '';
    if (typeof found !== 'string') throw refuse(found, `struct field .${field} of type string`);
  }
  return body;
}

/** Returns the paths of duplicate members of a JSON text, of which `JSON.parse` keeps the last. */
export function duplicateFields(request: ApiRequest): string[] {
  const type = mediaType(request);
  if (type !== '' && !type.endsWith('json')) return [];
  const text = request.body.toString('utf8');
  const found: string[] = [];
  /** The enclosing objects and lists: their paths, and the names seen so far (objects only). */
  const open: { readonly names: Set<string> | undefined; readonly path: string; index: number }[] = [];
  let path = '';
  let index = 0;
  while (index < text.length) {
    const character = text[index];
    const inside = open.at(-1);
    if (character === '"') {
      const end = endOfString(text, index);
      const isName = inside?.names !== undefined && /^\s*:/.test(text.slice(end, end + 64));
      if (isName) {
        const name = JSON.parse(text.slice(index, end)) as string;
        path = joinPath(inside.path, name);
        if (inside.names?.has(name) === true) found.push(path);
        inside.names?.add(name);
      }
      index = end;
      continue;
    }
    if (character === '{' || character === '[') {
      const isObject = character === '{';
      const place = inside !== undefined && inside.names === undefined ? `${inside.path}[${inside.index}]` : path;
      open.push({ names: isObject ? new Set() : undefined, path: place, index: 0 });
    } else if (character === '}' || character === ']') open.pop();
    else if (character === ',' && inside !== undefined && inside.names === undefined) inside.index++;
    index++;
  }
  return found;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}
