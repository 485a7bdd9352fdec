/** Checks that the pages are correct: manifests are accepted, commands parse, links have targets. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseYamlDocuments } from '../../src/api/yaml/parseYaml.ts';
import { readManifests } from '../../src/plan/readManifests.ts';
import { blocksOf, PAGES, ROOT, textOf } from './commands.ts';

describe('manifests of the pages', () => {
  const manifests = blocksOf(/^ya?ml$/).filter(({ text }) => /^apiVersion:/m.test(text));

  it('are there', () => {
    expect(manifests.length).toBeGreaterThan(3);
  });

  it.each(manifests)('are accepted: $page:$line', ({ page, text }) => {
    expect(parseYamlDocuments(text).length).toBeGreaterThan(0);
    expect(readManifests([{ source: page, text }])).toMatchObject({ mistakes: [], warnings: [] });
  });
});

/** The commands of a shell script, as words; pipes, redirections and background commands are split. */
function commandsOf(script: string): readonly (readonly string[])[] {
  return script
    .replaceAll(/\\\n\s*/g, ' ')
    .replaceAll(/(^|\s)#.*$/gm, '')
    .split(/\n|\||&&|;/)
    .map((line) =>
      [...line.replace(/\s*(>>?|2>)\s*\S+/g, '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
        ([, single, double, plain]) => single ?? double ?? plain ?? '',
      ),
    )
    .map((words) => words.filter((word) => word !== '&' && word !== 'npx' && !/^[A-Z_]+=/.test(word)));
}

/** The command of a verb, which only reads its arguments. */
async function parserOf(verb: string): Promise<Command> {
  const file = verb.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const module = (await import(join(ROOT, `src/cli/${file}.ts`))) as Readonly<Record<string, unknown>>;
  const make = module[`${file}Command`] as (...args: readonly unknown[]) => Command;
  return deaf(make(async () => []));
}

function deaf(command: Command): Command {
  for (const subcommand of command.commands) deaf(subcommand);
  if (command.commands.length === 0) command.action(() => undefined);
  return command.exitOverride().configureOutput({ writeErr: () => undefined });
}

describe('commands of the pages', () => {
  const commands = blocksOf(/^(sh|bash|shell|console)$/).flatMap(({ page, line, text }) =>
    commandsOf(text)
      .filter(([program, ...words]) => program === 'nodewright' && !words.includes('--help'))
      .map(([, verb = '', ...words]) => ({ page, line, verb, words, said: [verb, ...words].join(' ') })),
  );

  it('are there', () => {
    expect(commands.length).toBeGreaterThan(15);
  });

  it.each(commands)('are understood: $page:$line nodewright $said', async ({ verb, words }) => {
    const parser = new Command('nodewright').enablePositionalOptions().exitOverride();
    parser.addCommand(await parserOf(verb));
    await expect(parser.parseAsync([verb, ...words], { from: 'user' })).resolves.toBe(parser);
  });
});

describe('links of the pages', () => {
  it('lead to files that are there', () => {
    const broken = PAGES.flatMap((page) =>
      [...textOf(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(ROOT, page, '..', target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });
});
