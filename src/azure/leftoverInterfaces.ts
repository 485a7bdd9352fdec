/**
 * Network interfaces that launches have left behind: Azure keeps one for minutes after it has refused its machine, and
 * a crash may come between the two. In: the claims there are, when asked. Out: the names of those that were removed.
 */
import type { Log } from '../kube/log.ts';
import type { Machines } from './machines.ts';
import { machineNameFor } from './providerId.ts';

export interface LeftoverInterfacesParts {
  readonly machines: Machines;
  readonly log: Log;
}

export class LeftoverInterfaces {
  private readonly parts: LeftoverInterfacesParts;

  constructor(parts: LeftoverInterfacesParts) {
    this.parts = parts;
  }

  /** Claims are asked for after Azure, so that whatever Azure lists was made for a claim that is known by then. */
  async remove(claimNames: () => Iterable<string>, signal?: AbortSignal): Promise<readonly string[]> {
    const { machines, log } = this.parts;
    const interfaces = await machines.listInterfaces(signal);
    const used = new Set((await machines.list(signal)).map(({ name }) => name));
    for (const name of claimNames()) used.add(machineNameFor(name).toLowerCase());
    const removed: string[] = [];
    for (const name of interfaces.filter((each) => !used.has(each))) {
      if (await machines.removeInterface(name, signal)) removed.push(name);
      else log.info('Azure still holds a network interface without a machine', { name });
    }
    return removed;
  }
}
