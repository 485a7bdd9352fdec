/** The shell commands of the pages: those in fenced blocks, one by one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

interface Block {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

export const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

export function blocksOf(language: RegExp): readonly Block[] {
  return PAGES.flatMap((page) => {
    const text = textOf(page);
    return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
      .filter(([, name = '']) => language.test(name))
      .map(({ 2: body = '', index }) => ({ page, line: text.slice(0, index).split('\n').length, text: body }));
  });
}

export interface PageCommand {
  readonly page: string;
  /** As a shell takes it, without its comment; a here-document belongs to it. */
  readonly text: string;
}

/** What is typed: all lines of a `sh` block, and those of a `console` block that follow a prompt. */
export function shellCommands(): readonly PageCommand[] {
  const scripts = blocksOf(/^(sh|bash|shell)$/);
  const consoles = blocksOf(/^console$/).map((block) => ({
    ...block,
    text: [...block.text.matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line).join('\n'),
  }));
  return [...scripts, ...consoles].flatMap(({ page, text }) => splitScript(text).map((each) => ({ page, text: each })));
}

function splitScript(script: string): readonly string[] {
  const commands: string[] = [];
  const lines = script.replaceAll(/\\\n\s*/g, '').split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, end] = /<<'?(\w+)'?/.exec(line) ?? [];
    const last = end === undefined ? at : lines.indexOf(end, at);
    const command = [line.replace(/\s+#.*$/, '').trim(), ...lines.slice(at + 1, last + 1)].join('\n');
    if (command !== '' && !command.startsWith('#')) commands.push(command);
    at = last;
  }
  return commands;
}
