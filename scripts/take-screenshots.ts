/**
 * Takes the pictures of the dashboard in docs/images: `nodewright up` on its busiest day, in Debian's Chromium.
 * `npm run build` first; it takes a few minutes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { Kinds } from '../src/api/kinds.ts';
import { Labels } from '../src/api/labels.ts';
import { eventually } from '../test/controlplane/eventually.ts';
import { enter, launchChromium } from '../test/fixtures/dashboard/browser.ts';
import { UpProcess } from '../test/fixtures/local/upProcess.ts';

const IMAGES = join(import.meta.dirname, '../docs/images');
const VIEWPORT = { width: 1280, height: 860 };
/** Nodes and waiting pods from which the day counts as busy. */
const BUSY = { nodes: 40, waiting: 8 };
const PATIENCE = 15 * 60_000;
/** Milliseconds for charts to fill and for answers. */
const SETTLE = 8_000;

const numberIn = async (page: Page, title: string): Promise<number> => {
  const text = await page.locator('.stat', { hasText: title }).locator('.stat-value').first().textContent();
  return Number((text ?? '').replaceAll(',', ''));
};

/** What the local AKS has none of by itself: spot nodes, a pod that fits nowhere, and nodes that drift. */
async function addTrouble({ kube }: UpProcess): Promise<void> {
  const pool = await kube.get(Kinds.NodePool, { name: 'default' });
  const { requirements } = pool.spec.template.spec;
  const onSpot = requirements.map((each) => (each.key === Labels.capacityType ? { ...each, values: ['spot'] } : each));
  const template = { ...pool.spec.template, spec: { ...pool.spec.template.spec, requirements: onSpot } };
  await kube.create(Kinds.NodePool, { metadata: { name: 'batch' }, spec: { ...pool.spec, template, weight: 10 } });
  const workload = (name: string, replicas: number, nodeSelector: Record<string, string>) => ({
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          nodeSelector,
          containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '1', memory: '2Gi' } } }],
        },
      },
    },
  });
  await kube.create(Kinds.Deployment, workload('nightly', 6, { [Labels.capacityType]: 'spot' }));
  await kube.create(Kinds.Deployment, workload('archive', 2, { disk: 'fast' }));
}

const up = new UpProcess('--scenario', 'black-friday', '--speed', '5');
const browser = await launchChromium();
try {
  await up.start();
  const address = readFileSync(join(up.folder, 'dashboard.url'), 'utf8').trim();
  const { page, complaints } = await enter(browser, address, { viewport: VIEWPORT });
  const origin = new URL(page.url()).origin;
  const shoot = (name: string): Promise<Buffer> => page.screenshot({ path: join(IMAGES, `${name}.png`) });
  const visit = async (route: string, name: string): Promise<void> => {
    await page.goto(`${origin}${route}`);
    await setTimeout(SETTLE);
    await shoot(name);
  };

  await page.getByText('Last decisions').waitFor();
  await eventually(
    'the day is busy',
    async () => {
      const [waiting = '0'] = await page.locator('nav .badge').allTextContents();
      // The sentence is asked for, and may be older than the numbers that are streamed.
      const sentence = (await page.locator('.sentence').textContent()) ?? '';
      const isBusy = (await numberIn(page, 'Nodes')) >= BUSY.nodes && Number(waiting) >= BUSY.waiting;
      return isBusy && sentence.startsWith(`${waiting} pods`) ? true : undefined;
    },
    PATIENCE,
  );
  await shoot('dashboard');

  await addTrouble(up);
  await setTimeout(30_000);
  await visit('/pending', 'dashboard-pending');
  await visit('/decisions', 'dashboard-decisions');
  await page.locator('.decisions li', { hasText: 'launch' }).locator('a').first().click();
  await setTimeout(SETTLE);
  await shoot('dashboard-decisions');
  await visit('/nodes', 'dashboard-nodes');
  await page.locator('td a', { hasText: 'aks-default-' }).first().click();
  await page.locator('.answer-sentence').first().waitFor({ timeout: 120_000 });
  await shoot('dashboard-node');
  await visit('/map', 'dashboard-map');
  await visit('/spot', 'dashboard-spot');
  await visit('/capacity', 'dashboard-capacity');
  await visit('/controller', 'dashboard-controller');
  await visit('/what-if', 'dashboard-what-if');
  const manifest = page.getByRole('textbox', { name: 'Manifest of the NodePool' });
  await page.getByRole('combobox').selectOption('default');
  await manifest.fill((await manifest.inputValue()).replace(/- "?D"?$/m, '- E'));
  await page.getByRole('button', { name: 'What would happen?' }).click();
  await setTimeout(6 * SETTLE);
  await shoot('dashboard-what-if');
  const labels = { team: 'shop' };
  const body = { spec: { template: { metadata: { labels } } } };
  await up.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
  await setTimeout(30_000);
  await visit('/rollout', 'dashboard-rollout');
  await visit('/savings', 'dashboard-savings');
  await visit('/churn', 'dashboard-churn');
  if (complaints.length > 0) throw new Error(`the page complained: ${complaints.join('; ')}`);
} finally {
  await browser.close();
  await up.remove();
}
