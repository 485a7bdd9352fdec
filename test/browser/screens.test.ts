/** Every screen in a real browser: content, accessibility and resistance to attacks. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enter, launchChromium, serveDashboard, type ServedDashboard } from '../fixtures/dashboard/browser.ts';
import { paperPod, UNSCHEDULABLE } from '../fixtures/disruption/paperPods.ts';
import { paperShop } from '../fixtures/dashboard/paperShop.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOSTILE = '<img src=x onerror="window.hacked=1">';

/** A route, and a text that it shows of the paper shop. */
const SCREENS: readonly (readonly [string, string])[] = [
  ['/now', '1 pod cannot be placed'],
  ['/pending', `default/Pod/${HOSTILE}`],
  ['/pending', 'node-soon'],
  ['/decisions', 'NodeClaim node-a of NodePool default'],
  ['/decisions/0', 'Price ladder'],
  ['/nodes', 'node-b'],
  ['/nodes/node-b', 'nothing keeps it'],
  ['/map', 'Pool → zone → type → node → pod'],
  ['/savings', 'A PodDisruptionBudget allows no eviction'],
  ['/churn', 'Underutilized'],
  ['/capacity', 'standardDSv5Family'],
  ['/capacity', 'vnet/aks-subnet'],
  ['/spot', 'There is no spot node'],
  ['/rollout', '1 node of 3 has drifted'],
  ['/what-if', 'What would happen?'],
  ['/controller', 'provisioner'],
];

function shop() {
  const source = paperShop(HOSTILE);
  const { ledger } = source;
  const chosen = { instanceType: 't4', zone: 'z1', capacityType: 'on-demand', pricePerHour: 0.19 } as const;
  ledger.append({
    kind: 'launch',
    nodeClaim: 'node-a',
    nodePool: 'default',
    requests: { cpu: '3' },
    chosen,
    ladder: [chosen],
    instanceTypes: ['t4'],
    instanceTypeCount: 1,
    pods: { count: 1, names: ['default/web-1'] },
  });
  source.paper.cluster.setPod({ ...paperPod('patient'), status: UNSCHEDULABLE });
  ledger.append({ kind: 'nomination', pods: { count: 1, names: ['default/patient'] }, nodeClaim: 'node-soon' });
  ledger.append({
    kind: 'refusal',
    pods: { count: 1, names: [`default/${HOSTILE}`] },
    reason: { kind: 'no-pools', nodes: [] },
  });
  ledger.append({
    kind: 'disruption',
    command: 'c1',
    reason: 'Underutilized',
    consolidationType: 'single',
    decision: 'delete',
    nodes: [{ nodePool: 'default', node: 'node-x', nodeClaim: 'node-x', pricePerHour: 0.1 }],
    nodeCount: 1,
    replacements: [],
    replacementCount: 0,
    savingsPerHour: 0.1,
    pods: { count: 2, names: ['default/a', 'default/b'] },
  });
  ledger.append({
    kind: 'savings',
    time: source.paper.now,
    pricePerHour: 0.65,
    leastPricePerHour: 0.4,
    savingsPerHour: 0.25,
    pools: [
      {
        pool: 'default',
        nodes: 3,
        pricePerHour: 0.65,
        savingsPerHour: 0.25,
        blockers: [{ cause: 'pdb', nodes: 1, savingsPerHour: 0.25, example: 'node-b' }],
      },
    ],
  });
  source.metricsText = [
    'nodewright_azure_quota_remaining{quota="standardDSv5Family"} 12',
    'nodewright_azure_subnet_addresses_used{subnet="vnet/aks-subnet"} 40',
    'nodewright_azure_subnet_addresses_free{subnet="vnet/aks-subnet"} 1200',
    'controller_runtime_reconcile_total{controller="provisioner",result="success"} 3',
    'process_resident_memory_bytes 1048576',
    '',
  ].join('\n');
  return source;
}

async function violations(page: Page): Promise<readonly string[]> {
  // The page's policy blocks foreign scripts; the test's own is injected through the debugger.
  await page.evaluate(AXE);
  const { violations: found } = await page.evaluate<AxeResults>('axe.run(document)');
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

describe('the page', () => {
  let browser: Browser;
  let served: ServedDashboard;

  beforeAll(async () => {
    browser = await launchChromium();
    served = await serveDashboard(shop());
  });
  afterAll(async () => {
    await browser.close();
    await served.stop();
  });

  it.each(['light', 'dark'] as const)(
    'shows every screen in %s, and axe has nothing against it',
    async (colorScheme) => {
      const { page, complaints } = await enter(browser, served.address(), { colorScheme });
      for (const [route, expected] of SCREENS) {
        await page.goto(`${served.origin}${route}`);
        await page.getByText(expected).first().waitFor();
        expect([route, await violations(page)]).toEqual([route, []]);
      }
      expect(complaints).toEqual([]);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
    },
  );

  it('fits a narrow screen', async () => {
    const { page } = await enter(browser, served.address(), { viewport: { width: 380, height: 800 } });
    for (const [route, expected] of SCREENS) {
      await page.goto(`${served.origin}${route}`);
      await page.getByText(expected).first().waitFor();
      expect([route, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([route, true]);
    }
  });

  it('is used by keyboard, and the history goes back', async () => {
    const { page } = await enter(browser, served.address());
    await page.getByText('Last decisions').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.waitForURL('**/nodes');
    await page.getByText('node-b').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('node-b');
    await page.getByText('1 node of 3').waitFor();
    await page.goBack();
    await page.waitForURL('**/now');
    await page.getByText('Last decisions').waitFor();
    expect(await page.locator('h1').textContent()).toBe('Now');
  });

  it('waits for answers that take longer than the time between two questions', async () => {
    const { page } = await enter(browser, served.address());
    await page.route('**/api/savings', async (route) => {
      await setTimeout(3_000);
      await route.continue();
    });
    await page.goto(`${served.origin}/savings`);
    const blocker = page.getByText('A PodDisruptionBudget allows no eviction').first();
    await blocker.waitFor();
    expect(await blocker.isVisible()).toBe(true);
  });

  it('tells a node that is gone from a server that cannot answer', async () => {
    const { page } = await enter(browser, served.address());
    await page.goto(`${served.origin}/nodes/never`);
    await page.getByText('There is no node of this name').waitFor();
    await page.route('**/api/nodes/*', (route) => route.fulfill({ status: 503, body: 'too many questions wait' }));
    await page.goto(`${served.origin}/nodes/node-b`);
    await page.getByText('too many questions wait').waitFor();
    expect(await page.getByText('There is no node of this name').count()).toBe(0);
  });

  it('works out what a change of a NodePool would do', async () => {
    const { page } = await enter(browser, served.address());
    await page.goto(`${served.origin}/what-if`);
    await page.getByRole('textbox', { name: 'Manifest of the NodePool' }).fill('kind: Pod');
    await page.getByRole('button', { name: 'What would happen?' }).click();
    await page.getByText('This cannot be applied').waitFor();
    expect(await page.getByText('To make this change').count()).toBe(0);
  });

  it('says so when the controller stops and when the server is gone', async () => {
    const source = shop();
    const own = await serveDashboard(source);
    const { page } = await enter(browser, own.address());
    await page.getByText('Controller acts').waitFor();
    source.controllerState = 'stopped';
    await page.getByText('The controller has stopped').waitFor();
    source.controllerState = 'standby';
    await page.getByText('Another process leads. This one watches').waitFor();
    await own.stop();
    await page.getByText('Nothing is heard from the server').waitFor();
    expect(await page.locator('.notice').count()).toBe(1);
  });

  it('tells another site nothing, not even with a session', async () => {
    const { page } = await enter(browser, served.address());
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<title>another site</title>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    try {
      await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);
      const reach = `(mode) => fetch('${served.origin}/api/now', { credentials: 'include', mode })
        .then(async (answer) => answer.type + ' ' + await answer.text(), (error) => error.name)`;
      expect(await page.evaluate(`(${reach})('cors')`)).toBe('TypeError');
      expect(String(await page.evaluate(`(${reach})('no-cors')`)).trim()).not.toContain('pricePerHour');
    } finally {
      await new Promise((resolve) => site.close(resolve));
    }
  });

  it('draws only what is in sight of thousands of nodes', async () => {
    const source = paperShop();
    for (let at = 0; at < 4_997; at++) source.paper.addNode({ type: 't4' });
    const own = await serveDashboard(source);
    const { page } = await enter(browser, own.address());
    await page.goto(`${own.origin}/nodes`);
    await page.getByText('5,000 nodes').waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(80);
    await page.evaluate("document.querySelector('.table-box').scrollTop = 1e9");
    await page.getByText('node-c').waitFor();
    await own.stop();
  });
});
