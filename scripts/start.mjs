// `npm start`: install, build, then run the local world in this very process, so that signals reach it directly.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { root } from './setup.mjs';

await build();
process.argv.splice(1, 1, join(root, 'dist', 'nodewright.js'), 'up');
await import(pathToFileURL(join(root, 'dist', 'nodewright.js')).href);
