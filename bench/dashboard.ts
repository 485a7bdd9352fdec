/**
 * How quick the dashboard is in a real browser (`chromium`): the first paint of Now, and what an update costs the page's main
 * thread with thousands of nodes; and how long the server's thread is held by a frame and by an answer. `npm run build` first.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Page } from 'playwright-core';
import { eventually } from '../test/controlplane/eventually.ts';
import { PaperSource } from '../test/fixtures/dashboard/paperSource.ts';
import { enter, launchChromium, serveDashboard } from '../test/fixtures/dashboard/browser.ts';
import { PaperCluster } from '../test/fixtures/disruption/paperCluster.ts';
import { paperCloud } from '../test/fixtures/disruption/paperObjects.ts';
import { paperPod } from '../test/fixtures/disruption/paperPods.ts';
import { testType } from '../test/fixtures/solver/testObjects.ts';
import type { Bench, BenchTable } from './runner.ts';

const TYPES = [testType('t4', 4, 16, 0.19), testType('t32', 32, 128, 1.5)];
const UPDATES = 5;
const FIRST_PAINT_TARGET = 1_000;
const UPDATE_TARGET = 100;

function fleet(nodes: number, podsPerNode: number): PaperSource {
  const paper = new PaperCluster();
  paper.addPool(TYPES);
  for (let at = 0; at < nodes; at++) {
    const pods = Array.from({ length: podsPerNode }, (_, place) => paperPod(`p-${at}-${place}`, { cpu: '100m' }));
    paper.addNode({ type: podsPerNode > 30 ? 't32' : 't4', pods });
  }
  return new PaperSource(paper, paperCloud(TYPES));
}

/** Milliseconds of the main thread from the message to the frame after it, of the longest update. */
const WATCH = `(() => {
  window.longest = 0;
  const source = new EventSource('/api/stream?nodes');
  source.addEventListener('message', () => {
    const began = performance.now();
    requestAnimationFrame(() => setTimeout(() => {
      window.longest = Math.max(window.longest, performance.now() - began);
      window.updates = (window.updates ?? 0) + 1;
    }));
  });
})()`;

async function firstPaint(page: Page, origin: string): Promise<number> {
  await page.goto(`${origin}/now`);
  await page.getByText('Last decisions').waitFor();
  return Number(await page.evaluate('performance.now()'));
}

async function measured(nodes: number, podsPerNode: number): Promise<readonly (string | number)[]> {
  const source = fleet(nodes, podsPerNode);
  const served = await serveDashboard(source);
  const browser = await launchChromium();
  try {
    const { page } = await enter(browser, served.address());
    const paint = await firstPaint(page, served.origin);
    await page.goto(`${served.origin}/nodes`);
    await page.locator('tbody tr').first().waitFor();
    await page.evaluate(WATCH);
    const lag = monitorEventLoopDelay({ resolution: 5 });
    lag.enable();
    for (let at = 1; at <= UPDATES; at++) {
      // A hundred nodes change.
      for (let place = 0; place < 100; place++) source.paper.addNode({ name: `new-${at}-${place}`, type: 't4' });
      // The policy of the page lets no text become a script, which `waitForFunction` would need.
      await eventually('the update', async () =>
        Number(await page.evaluate('window.updates')) >= at ? true : undefined,
      );
    }
    const update = Number(await page.evaluate('window.longest'));
    const frameLag = lag.max / 1e6;
    lag.reset();
    await page.evaluate(`fetch('/api/nodes/new-1-1').then((answer) => answer.text())`);
    const answerLag = lag.max / 1e6;
    lag.disable();
    const round = (value: number): number => Math.round(value);
    return [nodes, nodes * podsPerNode, round(paint), round(update), round(frameLag), round(answerLag)];
  } finally {
    await browser.close();
    await served.stop();
  }
}

async function run(): Promise<BenchTable> {
  const rows = [await measured(100, 10), await measured(5_000, 4), await measured(2_000, 50)];
  return {
    title: 'dashboard: milliseconds',
    columns: ['nodes', 'pods', 'first paint', 'longest update', 'server held by frames', 'by an explanation'],
    rows,
    notes: [
      `targets: first paint of a small cluster at most ${FIRST_PAINT_TARGET}, an update at most ${UPDATE_TARGET}`,
      'an update is counted from the message to the frame after it, with two pages of the same browser at work',
    ],
  };
}

export const bench: Bench = {
  name: 'dashboard',
  description: 'the page in a real browser, and what it costs the server',
  run,
};
