/** `nodewright up`: a whole AKS in one process, including nodewright. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { FAULT_KINDS, FaultSyntaxError, parseFault, type FaultOrder } from '../local/faults/faultKinds.ts';
import { PROFILES, type Profile } from '../local/faults/profiles.ts';
import { optionReader } from './optionReader.ts';
import { SCENARIOS, scenarios, type ScenarioName } from '../local/scenarios/scenarios.ts';
import { decimalNumber, port } from '../options/optionKinds.ts';
import type { RunLocalWorld, UpOptions } from './compose/contract.ts';
import { runUntilStopped } from './stopSignals.ts';

const SLOWEST = 0.001;
const FASTEST = 10_000;
/** Milliseconds; stopping early loses nothing, because the next start continues. */
const STOP_WITHIN = 10_000;

interface UpFlags {
  readonly headless?: true;
  readonly port: number;
  readonly stateDir: string;
  readonly fresh?: true;
  readonly speed: number;
  readonly scenario: ScenarioName;
  readonly profile: Profile;
  readonly fault: readonly FaultOrder[];
  readonly seed?: string;
}

export function upCommand(): Command {
  const speed = decimalNumber({ minimum: SLOWEST, maximum: FASTEST });
  return new Command('up')
    .description(
      'Runs a Kubernetes API, an Azure Resource Manager, instances that boot, a control plane and nodewright in this one process. Nothing leaves this computer. kubectl finds it through <state-dir>/kubeconfig.',
    )
    .addOption(new Option('--headless', 'lines instead of a picture'))
    .addOption(
      new Option('--scenario <name>', 'workloads and faults to start with').choices([...SCENARIOS]).default('quiet'),
    )
    .addOption(
      new Option('--profile <name>', 'how often things go wrong by themselves').choices([...PROFILES]).default('calm'),
    )
    .addOption(
      new Option(
        '--fault <fault>',
        'a fault that is on from the start, such as "zonal-allocation zone=1 for=10m"; again for more',
      )
        .default([], 'none')
        .argParser(collectFaults),
    )
    .addOption(new Option('--seed <text>', 'makes faults come at the same moments again'))
    .addOption(
      new Option('--port <port>', 'port of the Kubernetes API; 0 takes any free one')
        .default(0)
        .argParser(optionReader(port)),
    )
    .addOption(
      new Option(
        '--state-dir <path>',
        'directory of the kubeconfig and of the worlds of all scenarios; a world goes on where it was stopped',
      ).default('.nodewright'),
    )
    .addOption(new Option('--fresh', 'delete the world that an earlier run of this scenario left, and begin another'))
    .addOption(
      new Option('--speed <factor>', 'how much faster than real time the world runs')
        .default(1)
        .argParser(optionReader(speed)),
    )
    .addHelpText('after', explanation())
    .argument('[controller-options...]', 'after --: options of the controller, as `nodewright run` takes them')
    .action(async (controllerOptions: readonly string[], flags: UpFlags) => {
      const { worldOptions } = await import('./compose/worldOptions.ts');
      const options: UpOptions = {
        headless: flags.headless === true,
        port: flags.port,
        stateDirectory: flags.stateDir,
        fresh: flags.fresh === true,
        speed: flags.speed,
        scenario: flags.scenario,
        profile: flags.profile,
        faults: flags.fault,
        controller: worldOptions(controllerOptions),
        ...(flags.seed !== undefined && { seed: flags.seed }),
      };
      const world = await import('./compose/localWorld.ts');
      const runLocalWorld: RunLocalWorld = world.runLocalWorld;
      await runUntilStopped((signal) => runLocalWorld(options, signal), { stopWithin: STOP_WITHIN });
    });
}

function explanation(): string {
  const lines = SCENARIOS.map((name) => `  ${name.padEnd(16)} ${scenarios[name].summary}`);
  const kinds = Object.entries(FAULT_KINDS).map(([name, { summary }]) => `  ${name.padEnd(16)} ${summary}`);
  return ['', 'Scenarios:', ...lines, '', 'Faults, also for `nodewright fault` while the world runs:', ...kinds].join(
    '\n',
  );
}

function collectFaults(text: string, before: readonly FaultOrder[]): readonly FaultOrder[] {
  try {
    return [...before, parseFault(text)];
  } catch (error) {
    if (error instanceof FaultSyntaxError) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
}
