/** Real promtool on the alerting rules and on every expression of the Grafana dashboard. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const FOLDER = 'docs/monitoring';

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

function check(file: string): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

it('accepts the alerting rules', () => {
  const { status, output } = check(join(FOLDER, 'alerts.yaml'));
  expect(output).toContain('SUCCESS');
  expect(status).toBe(0);
});

it('accepts every expression of the dashboard', () => {
  const { panels } = JSON.parse(readFileSync(join(FOLDER, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const rules = expressions.map((expr, at) => ({ record: `panel:${at}`, expr }));
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  try {
    const file = join(folder, 'panels.json');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const { status, output } = check(file);
    expect(output).toContain(`SUCCESS: ${expressions.length} rules found`);
    expect(status).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
