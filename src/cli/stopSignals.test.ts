import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Runs `work` under runUntilStopped in a process of its own; each "ready" that it prints gets it the next signal. */
function runWork(work: string, signals: readonly NodeJS.Signals[]): Promise<{ code: number | null; stdout: string }> {
  const script = `
    import { runUntilStopped } from './src/cli/stopSignals.ts';
    const held = setInterval(() => {}, 1000);
    const aborted = (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve));
    try { await runUntilStopped(${work}); console.log('done'); } catch (error) { console.log('failed: ' + error.message); }
    clearInterval(held);
  `;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const pending = [...signals];
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (text.includes('ready')) child.kill(pending.shift());
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout }));
  });
}

describe('stopping', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('lets the work finish on %s', async (signal) => {
    const work = `async (signal) => { console.log('ready'); await aborted(signal); console.log(signal.reason.message); }`;
    expect(await runWork(work, [signal])).toEqual({ code: 0, stdout: `ready\nstopped by ${signal}\ndone\n` });
  });

  it('does not report the abort itself as a failure', async () => {
    const work = `async (signal) => { console.log('ready'); await aborted(signal); signal.throwIfAborted(); }`;
    expect(await runWork(work, ['SIGINT'])).toEqual({ code: 0, stdout: 'ready\ndone\n' });
  });

  it('reports what goes wrong while stopping', async () => {
    const work = `async (signal) => { console.log('ready'); await aborted(signal); throw new Error('lease not released'); }`;
    expect(await runWork(work, ['SIGINT'])).toEqual({ code: 0, stdout: 'ready\nfailed: lease not released\n' });
  });

  it('ends without work that does not stop in its time', async () => {
    const work = `async () => { console.log('ready'); await new Promise(() => {}); }, { stopWithin: 100 }`;
    expect(await runWork(work, ['SIGINT'])).toEqual({ code: 130, stdout: 'ready\n' });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends at once on a second %s', async (signal, code) => {
    const work = `async (signal) => {
      console.log('ready');
      await aborted(signal);
      setTimeout(() => console.log('ready'), 600);
      await new Promise(() => {});
    }`;
    expect(await runWork(work, [signal, signal])).toEqual({ code, stdout: 'ready\nready\n' });
  });

  it('takes a repeat within half a second for the same Ctrl-C, as npm passes it on', async () => {
    const work = `async (signal) => {
      console.log('ready');
      await aborted(signal);
      console.log('ready');
      await new Promise((resolve) => setTimeout(resolve, 200));
      console.log('cleaned up');
    }`;
    expect(await runWork(work, ['SIGINT', 'SIGINT'])).toEqual({ code: 0, stdout: 'ready\nready\ncleaned up\ndone\n' });
  });
});
