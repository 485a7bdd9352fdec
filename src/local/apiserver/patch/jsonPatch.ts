/**
 * RFC 6902: a new document that shares what did not change. Throws BadRequest for operations that make no sense and
 * `PatchFailed` for those that do not fit the document.
 */
import type { JsonPatchOperation } from '../../../kube/kube.ts';
import { isFields, sameJson } from '../fields.ts';
import { badRequest, tooLarge } from '../status.ts';

const MAX_OPERATIONS = 10_000;
/** Copies of copies grow beyond any bound. */
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
  const path = parsePointer(operation.path);
  switch (operation.op) {
    case 'add':
      return change(document, path, (parent, name) => insert(parent, name, operation.value, operation.path));
    case 'replace':
      return change(document, path, (parent, name) => replace(parent, name, operation.value, operation.path));
    case 'remove':
      return change(document, path, (parent, name) => remove(parent, name, operation.path));
    case 'test': {
      const found = read(document, path);
      if (!sameJson(found, operation.value ?? null) && !sameJson(found, operation.value)) {
        throw new PatchFailed(`testing value ${operation.path} failed`);
      }
      return document;
    }
    case 'copy':
    case 'move': {
      const from = parsePointer(operation.from ?? '');
      const value = read(document, from);
      if (value === undefined) throw new PatchFailed(`${operation.op}: nothing at ${operation.from ?? ''}`);
      const source =
        operation.op === 'copy'
          ? document
          : change(document, from, (parent, name) => remove(parent, name, operation.from ?? ''));
      return change(source, path, (parent, name) => insert(parent, name, value, operation.path));
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

type Edit = (parent: unknown, name: string) => unknown;

/** Copies the containers along the path and lets `edit` make the new innermost one. */
function change(document: unknown, path: readonly string[], edit: Edit): unknown {
  const [name, ...rest] = path;
  if (name === undefined) {
    const wrapped = edit({ whole: document }, 'whole');
    return isFields(wrapped) ? wrapped['whole'] : undefined;
  }
  if (rest.length === 0) return edit(document, name);
  if (Array.isArray(document)) {
    const index = indexIn(document, name, false);
    const copy = [...(document as unknown[])];
    copy[index] = change(copy[index], rest, edit);
    return copy;
  }
  if (isFields(document) && Object.hasOwn(document, name)) {
    return { ...document, [name]: change(document[name], rest, edit) };
  }
  throw new PatchFailed(`doc is missing path: /${path.join('/')}`);
}

function insert(parent: unknown, name: string, value: unknown, path: string): unknown {
  if (Array.isArray(parent)) {
    const copy = [...(parent as unknown[])];
    copy.splice(indexIn(parent, name, true), 0, value);
    return copy;
  }
  if (isFields(parent)) return { ...parent, [name]: value };
  throw new PatchFailed(`add operation does not apply: doc is missing path: ${JSON.stringify(path)}`);
}

function replace(parent: unknown, name: string, value: unknown, path: string): unknown {
  if (Array.isArray(parent)) {
    const copy = [...(parent as unknown[])];
    copy[indexIn(parent, name, false)] = value;
    return copy;
  }
  // Upstream's library creates what is not there, whatever the RFC says.
  if (isFields(parent)) return { ...parent, [name]: value };
  throw new PatchFailed(`replace operation does not apply: doc is missing key: ${path}`);
}

function remove(parent: unknown, name: string, path: string): unknown {
  if (Array.isArray(parent)) {
    const copy = [...(parent as unknown[])];
    copy.splice(indexIn(parent, name, false), 1);
    return copy;
  }
  if (isFields(parent) && Object.hasOwn(parent, name)) {
    const { [name]: _removed, ...rest } = parent;
    return rest;
  }
  throw new PatchFailed(`remove operation does not apply: doc is missing key: ${path}`);
}

function indexIn(list: readonly unknown[], name: string, forInsert: boolean): number {
  if (name === '-' && forInsert) return list.length;
  const index = /^(0|[1-9]\d*)$/.test(name) ? Number(name) : -1;
  if (index < 0 || index > list.length || (index === list.length && !forInsert)) {
    throw new PatchFailed(`Unable to access invalid index: ${name}`);
  }
  return index;
}
