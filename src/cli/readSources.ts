/**
 * Reads manifests from the paths on the command line: files, folders (sorted by name) and `-` for standard input. Each
 * text has a name under which its mistakes are reported.
 */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ManifestText } from '../plan/readManifests.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { systemProblem } from '../errors/thrown.ts';

const MANIFEST = /\.(ya?ml|json)$/i;
/** A folder with more files was probably not intended. */
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
    throw unreadable(path, cause);
  });
  if (!found.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  // Kubernetes mounts the files of a ConfigMap as links.
  const files = entries
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && MANIFEST.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/(^|\/)(\.|node_modules\/)/.test(file.slice(path.length)));
  if (files.length === 0) throw new NodewrightError('NoManifests', { folder: path });
  if (files.length > MAX_FILES) throw new NodewrightError('InputTooLarge', { path, limit: `${MAX_FILES} files` });
  return files.sort();
}

async function readText(file: string): Promise<string> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw unreadable(file, cause);
  });
  if (size > MAX_BYTES) {
    throw new NodewrightError('InputTooLarge', { path: file, limit: `${MAX_BYTES / 2 ** 20} MiB` });
  }
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw unreadable(file, cause);
  });
}

function unreadable(file: string, cause: unknown): NodewrightError {
  return new NodewrightError('FileUnreadable', { file, purpose: 'manifest', problem: systemProblem(cause) }, { cause });
}
