import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLedgerFiles } from './ledgerFiles.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAX_BYTES = 400_000;

/** Writes decisions without pause, and reports each one after writing it. */
const WRITER = `
import { writeSync } from 'node:fs';
import { Ledger } from './src/ledger/ledger.ts';
import { keepLedgerInFiles } from './src/server/ledgerFiles.ts';
const ledger = new Ledger({ now: Date.now });
const log = { error: (message, fields) => { throw new Error(message, { cause: fields }); } };
keepLedgerInFiles(ledger, { directory: process.argv[1], maxBytes: ${MAX_BYTES}, maxAge: 3_600_000, now: Date.now, log });
for (;;) {
  const names = ['default/' + 'p'.repeat(Math.floor(Math.random() * 2_000))];
  const { sequence } = ledger.append({ kind: 'nomination', pods: { count: 1, names }, node: 'n' });
  writeSync(1, sequence + '\\n');
}
`;

/** Starts a writer on the directory, kills it after so many decisions, and returns the last that it said. */
function killedAfter(decisions: number, directory: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const words = ['--import', join(ROOT, 'node_modules/tsx/dist/esm/index.mjs'), '--input-type=module', '-e', WRITER];
    const child = spawn(process.execPath, [...words, directory], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let [said, complaints] = ['', ''];
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.split('\n').length > decisions) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', (_, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(complaints));
      else resolve(Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1)));
    });
  });
}

describe('the ledger of a process that is killed while it writes', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ledger-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it(
    'has every decision up to the last, continues after it, and respects its size limit',
    { timeout: 300_000 },
    async () => {
      for (const decisions of [1, 40, 150, 700]) {
        const last = await killedAfter(decisions, directory);
        const sequences = readLedgerFiles(directory).map(({ sequence }) => sequence);
        const [first = 0] = sequences;
        // What was reported exists; one more line may have been written but not reported.
        expect(sequences.at(-1)).toBeGreaterThanOrEqual(last);
        expect(sequences).toEqual(sequences.map((_, at) => first + at));
        const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
        expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
      }
      expect(readLedgerFiles(directory)[0]?.sequence).toBeGreaterThan(0);
    },
  );
});
