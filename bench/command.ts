/**
 * `nodewright plan` as a complete command: start-up, reading, catalogue, solving and printing. The minimum over several
 * fresh processes of the bundle, with the CPU time of all their threads.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printYaml } from '../src/api/yaml/printYaml.ts';
import { numberFlag } from './flags.ts';
import { MeteredCommand } from './meteredCommand.ts';
import type { PlanReport } from '../src/plan/planReport.ts';
import type { Bench } from './runner.ts';
import { upstreamPods } from './workloads.ts';

/** Target seconds of the command, and milliseconds of its solver, on a quiet machine. */
const GOALS: readonly { readonly count: number; readonly seconds: number; readonly solver: number | '' }[] = [
  { count: 1000, seconds: 0.6, solver: 80 },
  { count: 5000, seconds: 1.5, solver: '' },
];

export const bench: Bench = {
  name: 'command',
  description: '`nodewright plan` as a whole command, from JSON and YAML [--runs 5]',
  async run(flags) {
    const runs = numberFlag(flags, 'runs', 5);
    const command = await MeteredCommand.build();
    try {
      const rows: (string | number)[][] = [];
      for (const { count, seconds, solver } of GOALS) {
        const pods = upstreamPods(count);
        const texts = {
          json: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: pods }, undefined, 2),
          yaml: pods.map((pod) => printYaml(pod)).join('---\n'),
        };
        for (const [format, text] of Object.entries(texts)) {
          const file = join(command.folder, `pods.${format}`);
          await writeFile(file, text);
          let millis = Infinity;
          const spent = await command.least(runs, ['plan', '-f', file, '-o', 'json'], (printed) => {
            millis = Math.min(millis, (JSON.parse(printed) as PlanReport).solveMillis);
          });
          rows.push([count, format, ...spent, seconds, millis, solver]);
        }
      }
      return {
        title: '`nodewright plan` on pods as diverse as those of Karpenter’s own benchmark',
        columns: ['pods', 'format', 'seconds', 'processor seconds', 'goal', 'solver ms', 'goal'],
        rows,
        notes: [`least of ${runs} fresh processes; processor time is that of all threads`],
      };
    } finally {
      await command.remove();
    }
  },
};
