/** The dashboard of `nodewright up` in a real browser, with the live data of a scenario. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../controlplane/eventually.ts';
import { enter, launchChromium } from '../fixtures/dashboard/browser.ts';
import { PATIENCE, UpProcess } from '../fixtures/local/upProcess.ts';

describe('the dashboard of nodewright up', () => {
  const up = new UpProcess('--scenario', 'black-friday', '--speed', '5');
  let browser: Browser;

  beforeAll(async () => {
    await up.start();
    browser = await launchChromium();
  }, PATIENCE);
  afterAll(async () => {
    await browser.close();
    await up.remove();
  });

  const address = (): string => readFileSync(join(up.folder, 'dashboard.url'), 'utf8').trim();

  it('is found by a file of the owner, and opens once', async () => {
    expect((statSync(join(up.folder, 'dashboard.url')).mode & 0o777).toString(8)).toBe('600');
    const first = address();
    expect(up.output).toContain(first);
    const { page } = await enter(browser, first);
    expect(await page.locator('h1').textContent()).toBe('Now');
    expect(address()).not.toBe(first);
    const again = await (await browser.newContext()).newPage();
    expect((await again.goto(first))?.status()).toBe(401);
  });

  it('follows the cluster: nodes are bought, counted and explained', async () => {
    const { page, complaints } = await enter(browser, address());
    const link = page.locator('.stat', { hasText: 'Nodes' }).locator('.stat-value');
    await eventually(
      'nodes were bought',
      async () => (Number(await link.textContent()) > 3 ? true : undefined),
      PATIENCE,
    );
    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await page.waitForURL('**/nodes');
    const own = page.locator('td a', { hasText: 'aks-default-' }).first();
    const name = (await own.textContent()) ?? '';
    await own.click();
    await page.waitForURL(`**/nodes/${name}`);
    await page.getByText('Why is this still here?').waitFor();
    await page.locator('.answer-sentence').first().waitFor();
    expect(await page.locator('.ladder li').count()).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });
});
