/** The real kubectl at both servers: the same lines printed, the same exit codes. */
import { runCase } from './commands/runCase.ts';
import { table } from './commands/table.ts';
import { compareWorlds } from './suite.ts';

const LEAST = 800;

compareWorlds({
  title: 'kubectl command lines',
  heading: 'kubectl',
  entries: table,
  steps: table.flatMap((one) => one.commands.filter((command) => command.quiet !== true)).length,
  least: LEAST,
  isAlone: () => true,
  play: (world, one) => runCase(world, one),
});
