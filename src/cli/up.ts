/** `nodewright up`: a whole AKS in one process, with nodewright in it. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { decimalNumber, port } from '../options/optionKinds.ts';
import type { OptionKind } from '../options/optionDefinition.ts';
import type { RunLocalWorld, UpOptions } from './compose/contract.ts';
import { runUntilStopped } from './stopSignals.ts';

const SLOWEST = 0.001;
const FASTEST = 10_000;

interface UpFlags {
  readonly headless?: true;
  readonly port: number;
  readonly stateDir: string;
  readonly speed: number;
}

export function upCommand(): Command {
  const speed = decimalNumber({ minimum: SLOWEST, maximum: FASTEST });
  return new Command('up')
    .description(
      'Runs a Kubernetes API, an Azure Resource Manager, machines that boot and a scheduler in this one process, and nodewright among them. Nothing leaves this computer. kubectl finds it through <state-dir>/kubeconfig.',
    )
    .addOption(new Option('--headless', 'no dashboard; only the APIs'))
    .addOption(
      new Option('--port <port>', 'port of the Kubernetes API; 0 takes any free one')
        .default(0)
        .argParser(reader(port)),
    )
    .addOption(new Option('--state-dir <path>', 'where kubeconfig and state go').default('.nodewright'))
    .addOption(
      new Option('--speed <factor>', 'how much faster than real the local world lives')
        .default(1)
        .argParser(reader(speed)),
    )
    .allowExcessArguments(false)
    .action(async (flags: UpFlags) => {
      const options: UpOptions = {
        headless: flags.headless === true,
        port: flags.port,
        stateDirectory: flags.stateDir,
        speed: flags.speed,
      };
      const world = await import('./compose/localWorld.ts');
      const runLocalWorld: RunLocalWorld = world.runLocalWorld;
      await runUntilStopped((signal) => runLocalWorld(options, signal));
    });
}

/** Lets commander read a value as the options table does. */
function reader<T>(kind: OptionKind<T>): (text: string) => T {
  return (text) => {
    const outcome = kind.parse(text, 'flag');
    if ('problems' in outcome)
      throw new InvalidArgumentError(`It ${outcome.problems.join('; ')}; allowed is ${kind.allowed}.`);
    return outcome.value;
  };
}
