/** Finds the built page: next to the bundle, or in the repository. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readPage, ROUTES, type PageFiles } from '../../dashboard/pageFiles.ts';

/** Possible paths relative to the bundle, to one of its chunks, and to the sources. */
const PLACES = ['dashboard', '../dashboard', '../../../dist/dashboard'];
const NOT_BUILT: PageFiles = {
  index:
    '<!doctype html><html lang="en"><title>nodewright</title><p>The page is not built: <code>npm run build</code>.</p>',
  assets: new Map(),
  routes: ROUTES,
};

export async function dashboardPage(): Promise<PageFiles> {
  const folders = PLACES.map((place) => join(import.meta.dirname, place));
  const folder = folders.find((each) => existsSync(join(each, 'index.html')));
  return folder === undefined ? NOT_BUILT : readPage(folder);
}
