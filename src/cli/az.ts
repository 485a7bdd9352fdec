/** `nodewright az`: runs the real Azure CLI against the local Azure, with its own configuration folder. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { systemCode } from '../errors/thrown.ts';
import { readAzureEnvironment, signInCommands } from './compose/azureEnvironment.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const OWNER_ONLY = 0o700;

export function azCommand(): Command {
  return new Command('az')
    .description(
      'Runs the Azure CLI against the Azure of a local world, signed in, and leaves your own sign-in alone: `nodewright az aks list -o table`.',
    )
    .usage('[--state-dir <path>] <arguments of az...>')
    .addOption(new Option('--state-dir <path>', 'the state directory of the world').default('.nodewright'))
    .argument('[arguments...]', 'what `az` is called with')
    .passThroughOptions()
    .allowUnknownOption()
    .action(async (words: readonly string[], { stateDir }: { readonly stateDir: string }) => {
      const local = await readAzureEnvironment(join(stateDir, 'azure.env'), stateDir);
      const folder = resolve(stateDir, 'azure-cli');
      const variables: Variables = {
        ...process.env,
        ...local,
        AZURE_CONFIG_DIR: folder,
        AZURE_CORE_COLLECT_TELEMETRY: 'false',
        AZURE_CORE_NO_COLOR: process.env['AZURE_CORE_NO_COLOR'] ?? 'true',
      };
      await signIn(folder, local, variables);
      process.exitCode = await az(words, variables, 'inherit');
    });
}

/** Once per start of the local world, because its address and secret change then. */
async function signIn(folder: string, local: Readonly<Record<string, string>>, variables: Variables): Promise<void> {
  const mark = join(folder, 'signed-in');
  const wanted = `${local['AZURE_RESOURCE_MANAGER_ENDPOINT'] ?? ''} ${local['AZURE_CLIENT_ID'] ?? ''}`;
  if ((await readFile(mark, 'utf8').catch(() => '')) === wanted) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
  for (const command of signInCommands(local)) {
    const code = await az([...command, '--only-show-errors'], variables, 'errors');
    if (code !== 0) {
      throw new NodewrightError('SignInFailed', { command: `az ${command.slice(0, 2).join(' ')}`, code });
    }
  }
  await writeFile(mark, wanted);
}

function az(words: readonly string[], env: Variables, output: 'inherit' | 'errors'): Promise<number> {
  return new Promise((done, fail) => {
    const child = spawn('az', [...words], {
      env,
      stdio: output === 'inherit' ? 'inherit' : ['ignore', 'ignore', 'inherit'],
    });
    child.once('error', (error) =>
      fail(
        systemCode(error) === 'ENOENT'
          ? new NodewrightError('ClientMissing', { client: 'az', package: 'azure-cli' }, { cause: error })
          : error,
      ),
    );
    child.once('close', (code) => done(code ?? 1));
  });
}
