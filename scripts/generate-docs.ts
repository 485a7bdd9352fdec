/**
 * Writes the pages of docs/ that follow from code. With --check nothing is written, and the exit code is 1 when a page
 * is out of date.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { dump } from 'js-yaml';
import { declaredMetrics } from '../src/cli/compose/declaredMetrics.ts';
import { renderErrorsMarkdown } from '../src/errors/errorsMarkdown.ts';
import { renderOptionsMarkdown } from '../src/options/optionText.ts';
import { grafanaDashboard } from '../src/server/monitoring/grafanaDashboard.ts';
import { prometheusAlerts } from '../src/server/monitoring/prometheusAlerts.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pages: readonly { readonly path: string; readonly render: () => string }[] = [
  { path: 'docs/options.md', render: renderOptionsMarkdown },
  { path: 'docs/errors.md', render: renderErrorsMarkdown },
  { path: 'docs/monitoring/grafana-dashboard.json', render: () => JSON.stringify(grafanaDashboard(declaredMetrics())) },
  { path: 'docs/monitoring/alerts.yaml', render: () => dump(prometheusAlerts(), { lineWidth: -1 }) },
];

async function currentText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const check = process.argv.includes('--check');
let stale = 0;
for (const page of pages) {
  const path = join(root, page.path);
  const text = await format(page.render(), { ...(await resolveConfig(path)), filepath: path });
  if ((await currentText(path)) === text) continue;
  stale += 1;
  if (check) {
    console.error(`${page.path} is out of date; run: npx tsx scripts/generate-docs.ts`);
    continue;
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  console.log(`wrote ${page.path}`);
}
if (check && stale > 0) process.exitCode = 1;
