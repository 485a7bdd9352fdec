/** `nodewright dashboard`: the address of the dashboard that `nodewright up` serves. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { NodewrightError } from '../errors/nodewrightError.ts';

interface DashboardFlags {
  readonly stateDir: string;
}

export function dashboardCommand(): Command {
  return new Command('dashboard')
    .description(
      'Prints the address of the dashboard of a running `nodewright up`. It lets one browser in, once; the next call prints another one.',
    )
    .addOption(new Option('--state-dir <path>', 'the state directory of the world').default('.nodewright'))
    .action(async ({ stateDir }: DashboardFlags) => {
      const address = await readFile(join(stateDir, 'dashboard.url'), 'utf8').catch(() => '');
      if (address.trim() === '') throw new NodewrightError('NoLocalWorld', { stateDirectory: stateDir });
      console.log(address.trim());
    });
}
