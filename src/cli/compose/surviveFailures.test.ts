import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Runs a script under surviveFailures in a process of its own. */
function run(script: string): Promise<{ code: number | null; stdout: string }> {
  const program = `
    import { surviveFailures } from './src/cli/compose/surviveFailures.ts';
    const later = () => new Promise((resolve) => setTimeout(resolve, 5));
    const end = surviveFailures({
      log: { error: (message, { event, error }) => console.log(message + ': ' + event + ', ' + error.message) },
      failures: { inc: ({ event }) => console.log('counted ' + event) },
      giveUp: () => { console.log('gave up'); process.exit(7); },
      now: Date.now,
    });
    ${script}
  `;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout }));
  });
}

describe('surviveFailures', () => {
  it('logs and counts what has no handler, and the process goes on', async () => {
    const script = `
      void Promise.reject(new Error('first'));
      setTimeout(() => { throw new Error('second'); }, 1);
      await later(); await later();
      console.log('alive');
    `;
    expect((await run(script)).stdout.split('\n')).toEqual([
      'counted unhandledRejection',
      'a failure had no handler; going on: unhandledRejection, first',
      'counted uncaughtException',
      'a failure had no handler; going on: uncaughtException, second',
      'alive',
      '',
    ]);
  });

  it('gives up when failures do not end', async () => {
    const script = `for (;;) { void Promise.reject(new Error('again')); await later(); }`;
    const { code, stdout } = await run(script);
    expect(code).toBe(7);
    expect(stdout.match(/^counted/gm)).toHaveLength(101);
  });

  it('leaves the process as it was when it ends', async () => {
    expect(
      (await run(`end(); void Promise.reject(new Error('fatal')); await later(); console.log('alive');`)).code,
    ).toBe(1);
  });
});
