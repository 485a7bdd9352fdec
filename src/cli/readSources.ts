/**
 * Files, folders and standard input as texts. In: paths as given on the command line; `-` is standard input. Out: texts
 * with the names that mistakes are reported under, folders in order of name.
 */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ManifestText } from '../plan/readManifests.ts';
import { UsageError } from './exitCode.ts';

const MANIFEST = /\.(ya?ml|json)$/i;
/** A folder with more is not a folder of manifests. */
const MAX_FILES = 20_000;
const MAX_BYTES = 256 * 2 ** 20;

export async function readSources(paths: readonly string[]): Promise<ManifestText[]> {
  const texts: ManifestText[] = [];
  for (const path of paths) {
    if (path === '-') texts.push({ source: 'stdin', text: await text(process.stdin) });
    else for (const file of await filesAt(path)) texts.push({ source: file, text: await readText(file) });
  }
  return texts;
}

async function filesAt(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new UsageError(`${path} cannot be read: ${reasonOf(cause)}`, cause);
  });
  if (!found.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && MANIFEST.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/(^|\/)(\.|node_modules\/)/.test(file.slice(path.length)));
  if (files.length === 0) throw new UsageError(`${path} holds no .yaml, .yml or .json file`);
  if (files.length > MAX_FILES) throw new UsageError(`${path} holds more than ${MAX_FILES} manifests`);
  return files.sort();
}

async function readText(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_BYTES) throw new UsageError(`${file} is larger than ${MAX_BYTES / 2 ** 20} MiB`);
  return readFile(file, 'utf8');
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return { ENOENT: 'there is no such file', EACCES: 'permission denied' }[code] ?? String(cause);
}
