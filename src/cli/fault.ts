/** `nodewright fault`: adds, lists and clears faults of a running `nodewright up` world. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { FAULT_KINDS, FaultSyntaxError, parseFault } from '../local/faults/faultKinds.ts';
import type { ControlAddress, ShownFault } from '../local/faults/controlServer.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';

interface FaultFlags {
  readonly stateDir: string;
  readonly clear?: string | true;
  readonly list?: true;
}

export function faultCommand(): Command {
  const kinds = Object.entries(FAULT_KINDS).map(([name, { summary, parameters }]) => {
    const words = Object.keys(parameters).map((parameter) => `${parameter}=…`);
    return `  ${[name, ...words].join(' ')}\n      ${summary}`;
  });
  return new Command('fault')
    .description(
      'Adds a fault to a running local world: `nodewright fault zonal-allocation zone=1 for=10m`. Without a fault it lists those that are on.',
    )
    .argument('[fault...]', 'a kind of fault, then key=value; every kind also takes share=0…1, count=n and for=10m')
    .addOption(new Option('--state-dir <path>', 'the state directory of the world').default('.nodewright'))
    .addOption(new Option('--list', 'list the faults that are on'))
    .addOption(new Option('--clear [number]', 'end the fault of this number, or all'))
    .addHelpText('after', ['', 'Faults:', ...kinds].join('\n'))
    .action(async (words: string[], flags: FaultFlags) => {
      const order = words.join(' ');
      if (order !== '') check(order);
      const address = await findWorld(flags.stateDir);
      if (flags.clear !== undefined) {
        await ask(address, 'DELETE', flags.clear === true ? '/faults' : `/faults/${flags.clear.replace(/^#/, '')}`);
      } else if (order !== '') {
        const added = (await ask(address, 'POST', '/faults', order)) as ShownFault;
        console.log(`#${added.id} ${added.fault} is on${added.until === undefined ? '' : ` until ${added.until}`}`);
        return;
      }
      print((await ask(address, 'GET', '/faults')) as readonly ShownFault[]);
    });
}

/** Validates the order before the world is contacted. */
function check(order: string): void {
  try {
    parseFault(order);
  } catch (error) {
    if (error instanceof FaultSyntaxError)
      throw new NodewrightError('InvalidFault', { problem: error.message }, { cause: error });
    throw error;
  }
}

async function findWorld(stateDirectory: string): Promise<ControlAddress> {
  try {
    const { url, token } = JSON.parse(await readFile(join(stateDirectory, 'control'), 'utf8')) as ControlAddress;
    return { url, token };
  } catch (error) {
    throw new NodewrightError('NoLocalWorld', { stateDirectory }, { cause: error });
  }
}

async function ask({ url, token }: ControlAddress, method: string, path: string, body?: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    throw new NodewrightError('LocalWorldSilent', { url }, { cause: error });
  }
  const answer = (await response.json()) as { readonly error?: string };
  if (!response.ok) {
    throw new NodewrightError('LocalWorldRefused', { url, problem: answer.error ?? `HTTP ${response.status}` });
  }
  return answer;
}

function print(faults: readonly ShownFault[]): void {
  if (faults.length === 0) console.log('no faults are on');
  for (const { id, fault, until, struck } of faults) {
    console.log(`#${id} ${fault}, struck ${struck}×${until === undefined ? '' : `, until ${until}`}`);
  }
}
