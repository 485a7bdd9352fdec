// `npm run test:browser`: the dashboard's page in a real browser (`chromium`, Debian's package of that name).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './setup.mjs';
import { reportersFor, summarise } from './test-report.mjs';

if (spawnSync('chromium', ['--version'], { stdio: 'ignore' }).status !== 0) {
  console.error('test:browser needs Chromium. Install it with: apt-get install chromium');
  process.exit(1);
}
await build();
const report = process.env.NODEWRIGHT_TEST_REPORT;
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', '--config', 'vitest.browser.config.ts', ...reportersFor(report), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
if (report) summarise(report, { passed: 0, failed: [] });
process.exit(status ?? 1);
