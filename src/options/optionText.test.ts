import { describe, expect, it } from 'vitest';
import { optionHelpRows, renderOptionsMarkdown } from './optionText.ts';
import { optionEntries } from './optionTable.ts';

describe('help', () => {
  it('has a row for each option, with its variable', () => {
    const rows = optionHelpRows();
    expect(new Set(rows.map(({ env }) => env))).toEqual(new Set(optionEntries().map(([, { env }]) => env)));
    expect(rows.find(({ flag }) => flag === 'metrics-port')).toEqual({
      group: 'Logs and metrics',
      flag: 'metrics-port',
      env: 'METRICS_PORT',
      placeholder: '<port>',
      help: 'Port of the Prometheus endpoint /metrics.',
      facts: 'env METRICS_PORT; default 8080',
    });
  });

  it('gives the name of a second variable', () => {
    const rows = optionHelpRows();
    expect(rows.find(({ env }) => env === 'AZURE_SUBSCRIPTION_ID')?.facts).toBe('else ARM_SUBSCRIPTION_ID; required');
  });

  it('consists of sentences', () => {
    for (const [key, { help }] of optionEntries()) expect(`${key}: ${help}`).toMatch(/: [A-Z][^]*\.$/);
  });
});

describe('the page', () => {
  it('names every flag and variable', () => {
    const page = renderOptionsMarkdown();
    const names = optionEntries().flatMap(([, { flag, env }]) => (flag === undefined ? [env] : [`--${flag}`, env]));
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
