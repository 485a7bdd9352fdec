/** Host ports of pods, and conflicts between them on a node. */
import type { Container, Pod } from 'kubernetes-types/core/v1.js';

export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

export interface HostPortConflict {
  readonly wanted: HostPort;
  readonly taken: HostPort;
  /** Key of the pod that uses the port. */
  readonly owner: string;
}

/** Ports of containers that run as long as the pod: regular ones and sidecars. */
export function hostPortsOf(pod: Pod): HostPort[] {
  const sidecars = (pod.spec?.initContainers ?? []).filter((container) => container.restartPolicy === 'Always');
  return [...sidecars, ...(pod.spec?.containers ?? [])].flatMap(portsOfContainer);
}

/** Same protocol and port, on the same address or with one of them on every address. */
export function hostPortsClash(left: HostPort, right: HostPort): boolean {
  if (left.protocol !== right.protocol || left.port !== right.port) return false;
  return left.ip === right.ip || isEveryAddress(left.ip) || isEveryAddress(right.ip);
}

/** The ports taken on one node, by pod key (namespace/name). Immutable. */
export class HostPortUsage {
  static readonly empty = new HostPortUsage(new Map());

  private readonly byOwner: ReadonlyMap<string, readonly HostPort[]>;

  private constructor(byOwner: ReadonlyMap<string, readonly HostPort[]>) {
    this.byOwner = byOwner;
  }

  with(owner: string, ports: readonly HostPort[]): HostPortUsage {
    if (ports.length === 0) return this.without(owner);
    return new HostPortUsage(new Map(this.byOwner).set(owner, ports));
  }

  without(owner: string): HostPortUsage {
    if (!this.byOwner.has(owner)) return this;
    const byOwner = new Map(this.byOwner);
    byOwner.delete(owner);
    return new HostPortUsage(byOwner);
  }

  /** The first clash with another pod's ports; a pod never clashes with itself. */
  conflict(owner: string, ports: readonly HostPort[]): HostPortConflict | undefined {
    if (ports.length === 0) return undefined;
    for (const [holder, takenPorts] of this.byOwner) {
      if (holder === owner) continue;
      for (const taken of takenPorts) {
        const wanted = ports.find((port) => hostPortsClash(port, taken));
        if (wanted !== undefined) return { wanted, taken, owner: holder };
      }
    }
    return undefined;
  }
}

function portsOfContainer(container: Container): HostPort[] {
  return (container.ports ?? []).flatMap(({ hostIP, hostPort, protocol }) =>
    hostPort ? [{ ip: hostIP || '0.0.0.0', port: hostPort, protocol: protocol || 'TCP' }] : [],
  );
}

/** 0.0.0.0, ::, or a longer form of the latter. */
function isEveryAddress(ip: string): boolean {
  return ip === '0.0.0.0' || /^[0:]+$/.test(ip);
}
