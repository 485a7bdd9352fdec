import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../dist/nodewright.js');

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8' }).trim();

const scriptOf = (shell: string): string => run(process.execPath, [PROGRAM, 'completion', shell]);

it('zsh offers commands, options and their values', () => {
  // Outside of an editor line there is nothing to complete in: what would be offered is printed.
  const [, ...script] = scriptOf('zsh')
    .replace(/^compdef.*$/m, '')
    .split('\n');
  const after = (...words: readonly string[]): string[] => {
    const lines = ['compadd() { shift; print -r -- "$@" }', ...script, `words=(${words.join(' ')} "")`];
    lines.push(`CURRENT=${words.length + 1}`, '_nodewright');
    return run('zsh', ['-f', '-c', lines.join('\n')]).split(' ');
  };
  expect(after('nodewright')).toEqual(expect.arrayContaining(['explain', 'up', 'plan']));
  expect(after('nodewright', 'explain')).toEqual(expect.arrayContaining(['pod', 'nodepool', '--help']));
  expect(after('nodewright', 'explain', 'pod', 'web-1', '--output')).toEqual(['table', 'json', 'yaml', 'apply']);
});

it('fish offers commands, options and their values', () => {
  const script = scriptOf('fish');
  const after = (line: string): string[] =>
    run('fish', ['--no-config', '-c', `${script}\ncomplete -C '${line}'`]).split('\n');
  expect(after('nodewright ex')).toEqual(['explain']);
  expect(after('kubectl-nodewright explain pod web-1 --ap')).toEqual(['--apply']);
  expect(after('nodewright explain pod web-1 -o j')).toEqual(['json']);
});
