/**
 * RFC 6902: returns a new document that shares unchanged parts. Throws BadRequest for malformed patches, and
 * `PatchFailed` for operations that cannot be applied to the document.
 */
import type { JsonPatchOperation } from '../../../kube/kube.ts';
import { isFields, sameJson } from '../fields.ts';
import { badRequest, tooLarge } from '../status.ts';

const MAX_OPERATIONS = 10_000;
/** Limit in bytes, because repeated copies grow exponentially. */
const MAX_COPIED = 3 * 1024 * 1024;

export class PatchFailed extends Error {}

export function applyJsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  }
  if (operations.length > MAX_OPERATIONS) {
    throw badRequest(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`);
  }
  let result = document;
  let copied = 0;
  for (const operation of operations as unknown[]) {
    if (!isOperation(operation)) throw new PatchFailed(`unexpected operation: ${JSON.stringify(operation)}`);
    if (operation.op === 'copy')
      copied += JSON.stringify(read(result, parsePointer(operation.from ?? '')) ?? null).length;
    if (copied > MAX_COPIED) throw tooLarge(MAX_COPIED);
    result = applyOne(result, operation);
  }
  return result;
}

function applyOne(document: unknown, operation: JsonPatchOperation): unknown {
  const { op, value, from = '' } = operation;
  const path = parsePointer(operation.path);
  switch (op) {
    case 'add':
    case 'replace':
    case 'remove':
      return change(document, path, op, value);
    case 'test': {
      const found = read(document, path);
      if (sameJson(found, value ?? null) || sameJson(found, value)) return document;
      throw new PatchFailed(`testing value ${operation.path} failed`);
    }
    case 'copy':
    case 'move': {
      const source = parsePointer(from);
      const moved = read(document, source);
      if (moved === undefined) throw new PatchFailed(`${op}: nothing at ${from}`);
      return change(op === 'copy' ? document : change(document, source, 'remove'), path, 'add', moved);
    }
  }
}

const OPERATIONS = new Set(['add', 'remove', 'replace', 'test', 'move', 'copy']);

function isOperation(value: unknown): value is JsonPatchOperation {
  return (
    isFields(value) &&
    typeof value['op'] === 'string' &&
    OPERATIONS.has(value['op']) &&
    typeof value['path'] === 'string'
  );
}

function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw badRequest(`a JSON pointer starts with "/": ${JSON.stringify(pointer)}`);
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function read(document: unknown, path: readonly string[]): unknown {
  let current = document;
  for (const name of path) {
    if (Array.isArray(current)) current = (current as unknown[])[indexIn(current, name, false)];
    else if (isFields(current) && Object.hasOwn(current, name)) current = current[name];
    else return undefined;
  }
  return current;
}

type Edit = 'add' | 'replace' | 'remove';

/** Copies the objects and lists along the path, and edits the innermost one. */
function change(document: unknown, path: readonly string[], edit: Edit, value?: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return edit === 'remove' ? undefined : value;
  if (Array.isArray(document)) {
    const copy = [...(document as unknown[])];
    const isInner = rest.length > 0;
    const index = indexIn(copy, name, !isInner && edit === 'add');
    if (isInner) copy[index] = change(copy[index], rest, edit, value);
    else if (edit === 'replace') copy[index] = value;
    else copy.splice(index, edit === 'remove' ? 1 : 0, ...(edit === 'remove' ? [] : [value]));
    return copy;
  }
  const isThere = isFields(document) && Object.hasOwn(document, name);
  // Contrary to the RFC, replacing a missing member adds it, like in upstream's library.
  if (!isFields(document) || (!isThere && (rest.length > 0 || edit === 'remove'))) {
    throw new PatchFailed(`${edit} operation does not apply: doc is missing path: /${path.join('/')}`);
  }
  if (rest.length > 0) return { ...document, [name]: change(document[name], rest, edit, value) };
  const { [name]: _before, ...others } = document;
  return edit === 'remove' ? others : { ...document, [name]: value };
}

function indexIn(list: readonly unknown[], name: string, forInsert: boolean): number {
  if (name === '-' && forInsert) return list.length;
  const index = /^(0|[1-9]\d*)$/.test(name) ? Number(name) : -1;
  if (index < 0 || index > list.length || (index === list.length && !forInsert)) {
    throw new PatchFailed(`Unable to access invalid index: ${name}`);
  }
  return index;
}
