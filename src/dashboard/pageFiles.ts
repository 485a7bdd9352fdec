/** The built page: one HTML file for all routes, and the files that it refers to. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface PageFiles {
  readonly index: string;
  /** By name. */
  readonly assets: ReadonlyMap<string, { readonly type: string; readonly body: Buffer }>;
  /** First path segments that show the page. */
  readonly routes: ReadonlySet<string>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export const ROUTES: ReadonlySet<string> = new Set([
  '',
  'now',
  'pending',
  'decisions',
  'nodes',
  'savings',
  'churn',
  'capacity',
  'spot',
  'rollout',
  'map',
  'what-if',
  'controller',
]);

/** All files are read once; nothing else can be requested. */
export async function readPage(folder: string): Promise<PageFiles> {
  const names = (await readdir(folder)).filter((name) => Object.hasOwn(TYPES, extensionOf(name)));
  const read = await Promise.all(
    names.map(async (name) => {
      const body = await readFile(join(folder, name));
      return [name, { type: TYPES[extensionOf(name)] ?? '', body }] as const;
    }),
  );
  return { index: await readFile(join(folder, 'index.html'), 'utf8'), assets: new Map(read), routes: ROUTES };
}

const extensionOf = (name: string): string => name.split('.').at(-1) ?? '';
