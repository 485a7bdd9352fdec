import { execFileSync } from 'node:child_process';
import { Command, Option } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { completionCommand } from './completion.ts';
import { printWatched } from './watched.ts';

afterEach(() => vi.restoreAllMocks());

async function scriptOf(shell: string): Promise<string> {
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const pod = new Command('pod').option('--apply', 'x');
  pod.addOption(new Option('-o, --output <format>', 'x').choices(['table', 'json']));
  const explain = new Command('explain').addCommand(pod);
  const command = completionCommand(async () => [explain, new Command('up').option('--port <port>', 'x')]);
  await command.parseAsync([shell], { from: 'user' });
  vi.restoreAllMocks();
  return text;
}

/** What bash offers for the last of these words. */
function offered(script: string, words: readonly string[]): string[] {
  const quoted = words.map((word) => `"${word}"`).join(' ');
  const lines = [
    script,
    `COMP_WORDS=(${quoted})`,
    `COMP_CWORD=${words.length - 1}`,
    '_nodewright',
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ];
  const output = execFileSync('bash', ['-c', lines.join('\n')], { encoding: 'utf8' });
  return output.split('\n').filter((line) => line !== '');
}

describe('completion', () => {
  it.each([
    [
      ['nodewright', ''],
      ['explain', 'up'],
    ],
    [['nodewright', 'e'], ['explain']],
    [
      ['nodewright', 'explain', ''],
      ['pod', '--help'],
    ],
    [['nodewright', 'explain', 'pod', 'web-1', '--a'], ['--apply']],
    [['nodewright', 'up', '--p'], ['--port']],
  ])('in bash after %j offers %j', async (words, expected) => {
    expect(offered(await scriptOf('bash'), words)).toEqual(expected);
  });

  it.each([
    [
      ['explain', ''],
      ['pod', '--help'],
    ],
    [['explain', 'pod', 'web-1', '--a'], ['--apply']],
    [['explain', 'pod', 'web-1', '-o', 'j'], ['json']],
    [['e'], ['explain']],
  ])('of kubectl after %j offers %j', async (words, expected) => {
    const output = execFileSync('sh', ['-c', await scriptOf('kubectl'), 'sh', ...words], { encoding: 'utf8' });
    expect(output.trim().split('\n')).toEqual([...expected, ':4']);
  });
});

it('prints an answer again only when it has changed', async () => {
  const answers = ['a', 'a', 'b', 'b', 'c'];
  const end = new AbortController();
  const written: string[] = [];
  const answer = async (): Promise<string> => {
    const next = answers.shift() ?? '';
    if (answers.length === 0) end.abort();
    return next;
  };
  await printWatched(answer, true, { write: (text) => written.push(text), wait: async () => {}, signal: end.signal });
  expect(written).toEqual(['a', 'b', 'c']);
});
