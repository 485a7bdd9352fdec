/** `nodewright version`: the build and the platform. */
import { Command, Option } from 'commander';
import { buildInfo } from './buildInfo.ts';

export function versionCommand(): Command {
  return new Command('version')
    .description('Prints the version, the commit it was built from, and the platform.')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action(({ output }: { output: 'text' | 'json' }) => {
      const { version, commit } = buildInfo();
      const facts = {
        version,
        commit: commit ?? 'unknown',
        node: process.version,
        platform: `${process.platform}/${process.arch}`,
      };
      console.log(
        output === 'json'
          ? JSON.stringify(facts)
          : `nodewright ${facts.version} (commit ${facts.commit}, Node.js ${facts.node}, ${facts.platform})`,
      );
    });
}
