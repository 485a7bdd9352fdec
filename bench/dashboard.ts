/**
 * Speed of the dashboard in a real browser (`chromium`): the first paint of Now, the main-thread time of an update with
 * thousands of nodes, and how long frames and answers block the controller's thread. Run `npm run build` first.
 */
import { setTimeout } from 'node:timers/promises';
import { Hold } from './hold.ts';
import type { Page } from 'playwright-core';
import { eventually } from '../test/controlplane/eventually.ts';
import { PaperSource } from '../test/fixtures/dashboard/paperSource.ts';
import { enter, launchChromium, serveDashboard } from '../test/fixtures/dashboard/browser.ts';
import { PaperCluster } from '../test/fixtures/disruption/paperCluster.ts';
import { paperCloud } from '../test/fixtures/disruption/paperObjects.ts';
import { paperPod } from '../test/fixtures/disruption/paperPods.ts';
import { explainNodeIn } from '../src/rehearsal/explainNodeIn.ts';
import { rehearse } from '../src/rehearsal/rehearse.ts';
import { testType } from '../test/fixtures/solver/testObjects.ts';
import type { Bench, BenchTable } from './runner.ts';

const TYPES = [testType('t4', 4, 16, 0.19), testType('t32', 32, 128, 1.5)];
const UPDATES = 5;
const FIRST_PAINT_TARGET = 1_000;
const UPDATE_TARGET = 100;
const LAG_TARGET = 100;
/** Milliseconds after which the thread's copy of the cluster is brought up to date. */
const HOLDS = 6_000;

function fleet(nodes: number, podsPerNode: number): PaperSource {
  const paper = new PaperCluster();
  paper.addPool(TYPES);
  for (let at = 0; at < nodes; at++) {
    const pods = Array.from({ length: podsPerNode }, (_, place) => paperPod(`p-${at}-${place}`, { cpu: '100m' }));
    paper.addNode({ type: podsPerNode > 30 ? 't32' : 't4', pods });
  }
  return new PaperSource(paper, paperCloud(TYPES));
}

/** Milliseconds of the main thread from the message to the next frame, for the longest update. */
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
    const frames = new Hold();
    for (let at = 1; at <= UPDATES; at++) {
      // A hundred nodes change.
      for (let place = 0; place < 100; place++) source.paper.addNode({ name: `new-${at}-${place}`, type: 't4' });
      // The policy of the page lets no text become a script, which `waitForFunction` would need.
      await eventually('the update', async () =>
        Number(await page.evaluate('window.updates')) >= at ? true : undefined,
      );
    }
    const update = Number(await page.evaluate('window.longest'));
    const frameLag = await frames.end();
    const inThread = await asked(page, source);
    const here = await held(() => explainedHere(source));
    const times = [paint, update, frameLag, inThread.first, inThread.later, inThread.lag, here.lag];
    return [nodes, nodes * podsPerNode, ...times.map((time) => Math.round(time))];
  } finally {
    await browser.close();
    await served.stop();
  }
}

/** Milliseconds of the work, and the longest time for which it blocked this thread. */
async function held(work: () => Promise<unknown>): Promise<{ readonly took: number; readonly lag: number }> {
  const hold = new Hold();
  const began = performance.now();
  await work();
  const took = performance.now() - began;
  return { took, lag: await hold.end() };
}

/** Explanations of nodes, one after the other: the first one starts the thread and copies the cluster to it. */
async function asked(page: Page, source: PaperSource) {
  const ask = (at: number) =>
    held(() => page.evaluate(`fetch('/api/nodes/new-1-${at}').then((answer) => answer.text())`));
  const first = await ask(0);
  const again = [await ask(1), await ask(2), await ask(3)];
  for (let place = 0; place < 100; place++) source.paper.addNode({ name: `late-${place}`, type: 't4' });
  await setTimeout(HOLDS);
  again.push(await ask(4));
  return {
    first: first.took,
    later: Math.min(...again.map(({ took }) => took)),
    lag: Math.max(first.lag, ...again.map(({ lag }) => lag)),
  };
}

/** The same explanation in this thread, for comparison. */
async function explainedHere(source: PaperSource): Promise<void> {
  const { objects, cloud, kube } = source.rehearsal();
  const rehearsal = await rehearse({ objects, cloud });
  await explainNodeIn(rehearsal, { kind: 'nodeclaim', name: 'new-1-0' }, { cloud }, kube);
}

async function run(): Promise<BenchTable> {
  const rows = [await measured(100, 10), await measured(5_000, 4), await measured(2_000, 50)];
  return {
    title: 'dashboard: milliseconds',
    columns: [
      'nodes',
      'pods',
      'first paint',
      'longest update',
      'lag by frames',
      'first answer',
      'later answer',
      'lag by answers',
      'lag, answered in this thread',
    ],
    rows,
    notes: [
      `targets: first paint of a small cluster at most ${FIRST_PAINT_TARGET}, an update at most ${UPDATE_TARGET}`,
      `lag: processor time for which the controller's thread did nothing else; by answers at most ${LAG_TARGET}`,
      'an update is counted from the message to the frame after it, with two pages of the same browser at work',
    ],
  };
}

export const bench: Bench = {
  name: 'dashboard',
  description: 'the page in a real browser, and what it costs the server',
  run,
};
