/**
 * `npm run bench -- <name> [flags]`: runs one bench (or all), prints a table for people and one JSON line for
 * machines. Machines are noisy: a bench compares two things inside one run and reports the ratio.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface BenchTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  readonly notes?: readonly string[];
}

export interface Bench {
  readonly name: string;
  readonly description: string;
  run(flags: readonly string[]): Promise<BenchTable | readonly BenchTable[]>;
}

function printTable({ title, columns, rows, notes = [] }: BenchTable): void {
  const cells = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ');
  console.log(`\n${title}`);
  for (const row of cells) console.log(`  ${line(row)}`);
  for (const note of notes) console.log(`  ${note}`);
}

async function loadBenches(): Promise<Bench[]> {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && file !== 'runner.ts');
  const modules = await Promise.all(
    files.sort().map((file) => import(join(import.meta.dirname, file)) as Promise<{ bench?: Bench }>),
  );
  return modules.flatMap((module) => module.bench ?? []);
}

async function main([wanted, ...flags]: readonly string[]): Promise<void> {
  const benches = await loadBenches();
  const chosen = wanted === undefined ? [] : benches.filter(({ name }) => wanted === 'all' || name === wanted);
  if (chosen.length === 0) {
    console.error(wanted === undefined ? 'Which bench?' : `There is no bench called ${wanted}.`);
    for (const { name, description } of benches) console.error(`  npm run bench -- ${name.padEnd(10)} ${description}`);
    process.exitCode = 2;
    return;
  }
  for (const bench of chosen) {
    const tables = [await bench.run(flags)].flat();
    for (const table of tables) printTable(table);
    console.log(JSON.stringify({ bench: bench.name, node: process.version, tables }));
  }
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
