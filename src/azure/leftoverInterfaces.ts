/**
 * Removes network interfaces left by launches: Azure keeps an interface reserved for minutes after refusing its VM, and
 * a crash may happen in between.
 */
import type { Log } from '../kube/log.ts';
import type { VirtualMachines } from './virtualMachines.ts';
import { vmNameFor } from './providerId.ts';

export interface LeftoverInterfacesParts {
  readonly machines: VirtualMachines;
  readonly log: Log;
}

export class LeftoverInterfaces {
  private readonly parts: LeftoverInterfacesParts;

  constructor(parts: LeftoverInterfacesParts) {
    this.parts = parts;
  }

  /** Claims are read after listing, so that every listed interface's claim is already known. */
  async remove(claimNames: () => Iterable<string>, signal?: AbortSignal): Promise<readonly string[]> {
    const { machines, log } = this.parts;
    const interfaces = await machines.listInterfaces(signal);
    const used = new Set((await machines.list(signal)).map(({ name }) => name));
    for (const name of claimNames()) used.add(vmNameFor(name).toLowerCase());
    const removed: string[] = [];
    for (const name of interfaces.filter((each) => !used.has(each))) {
      if (await machines.removeInterface(name, signal)) removed.push(name);
      else log.info('Azure still holds a network interface without a VM', { name });
    }
    return removed;
  }
}
