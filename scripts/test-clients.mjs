// `npm run test:clients`: the tests that need real clients: `az` (Debian's azure-cli) and `promtool` (Debian's prometheus).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './setup.mjs';
import { reportersFor, summarise } from './test-report.mjs';

if (spawnSync('az', ['version'], { stdio: 'ignore' }).status !== 0) {
  console.error('test:clients needs the Azure CLI. Install it with: apt-get install azure-cli');
  process.exit(1);
}
if (spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status !== 0) {
  console.error('test:clients needs promtool. Install it with: apt-get install prometheus');
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
