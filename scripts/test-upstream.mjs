// `npm run test:upstream`: Karpenter's own regression suite against this build. `-- --help` says what can be chosen.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './setup.mjs';

await build();
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'tsx'),
  [join('test', 'upstream', 'main.ts'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
process.exit(status ?? 1);
