// `npm run test:clients`: the tests that need real clients, which Debian has as packages.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './setup.mjs';
import { reportersFor, summarise } from './test-report.mjs';

for (const [client, debianPackage] of [
  ['az', 'azure-cli'],
  ['promtool', 'prometheus'],
  ['zsh', 'zsh'],
  ['fish', 'fish'],
]) {
  if (spawnSync(client, ['--version'], { stdio: 'ignore' }).status === 0) continue;
  console.error(`test:clients needs ${client}. Install it with: apt-get install ${debianPackage}`);
  process.exit(1);
}
await build();
const report = process.env.NODEWRIGHT_TEST_REPORT;
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', '--config', 'vitest.clients.config.ts', ...reportersFor(report), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
if (report) summarise(report, { passed: 0, failed: [] });
process.exit(status ?? 1);
