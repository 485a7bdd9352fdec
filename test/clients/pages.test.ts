/** Runs the commands of the pages unchanged and in order, against a local AKS. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, shellCommands, type PageCommand } from '../docs/commands.ts';
import { RUN_ELSEWHERE } from '../docs/runElsewhere.ts';
import { PATIENCE } from '../fixtures/local/upProcess.ts';
import { PageShell } from './pageShell.ts';

const COMMANDS = shellCommands();
const isElsewhere = ({ text }: PageCommand): boolean => RUN_ELSEWHERE.some(({ commands }) => commands.test(text));

describe('commands of the pages', () => {
  const shell = new PageShell();

  // A world, a node, and a sign-in.
  beforeAll(() => shell.start(), 3 * PATIENCE);
  afterAll(() => shell.close());

  it('that run elsewhere are there, and so are the files that run them', () => {
    for (const { commands, heldBy } of RUN_ELSEWHERE) {
      expect([commands, COMMANDS.some(({ text }) => commands.test(text))]).toEqual([commands, true]);
      expect([heldBy, existsSync(join(ROOT, heldBy))]).toEqual([heldBy, true]);
    }
  });

  it.each(COMMANDS.filter((command) => !isElsewhere(command)))('$page: $text', async ({ page, text }) => {
    const { code, stdout, stderr } = await shell.run(page, text);
    // The doctor exits with 1 when it has findings.
    const isWell = code === 0 || (code === 1 && /\bdoctor$/.test(text));
    expect(isWell ? '' : `it ended with ${code}: ${stderr}${stdout}`).toBe('');
  });
});
