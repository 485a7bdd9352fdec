import type { CloudProvider } from '../../src/cloud/cloudProvider.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { interceptedKube } from './interceptedKube.ts';

export interface Death {
  /** Which write of the life it happens at, counted from 0. */
  readonly at: number;
  /** Whether the write still reaches its goal. */
  readonly moment: 'before' | 'after';
}

/**
 * Test support: makes a process mortal. Every write to the API server and every launch or removal in the cloud is
 * counted; at the one that was chosen, the process dies: from then on nothing that it does has any effect.
 */
export class Mortality {
  private readonly death: Death | undefined;
  readonly writes: string[] = [];
  private dead = false;

  constructor(death?: Death) {
    this.death = death;
  }

  get isDead(): boolean {
    return this.dead;
  }

  kube(kube: Kube): Kube {
    const counted = <A extends readonly unknown[], R>(name: string, call: (...request: A) => Promise<R>) => {
      return (...request: A): Promise<R> => this.write(`${name} ${describe(request)}`, () => call(...request));
    };
    return interceptedKube(kube, {
      create: ((...request: Parameters<Kube['create']>) =>
        request[0].kind === 'Event'
          ? this.live(() => kube.create(...request))
          : counted('create', (...same: Parameters<Kube['create']>) => kube.create(...same))(
              ...request,
            )) as Kube['create'],
      patch: ((...request: Parameters<Kube['patch']>) =>
        request[0].kind === 'Event'
          ? this.live(() => kube.patch(...request))
          : counted('patch', (...same: Parameters<Kube['patch']>) => kube.patch(...same))(...request)) as Kube['patch'],
      delete: counted('delete', (...request: Parameters<Kube['delete']>) => kube.delete(...request)),
      evict: counted('evict', (...request: Parameters<Kube['evict']>) => kube.evict(...request)),
    });
  }

  cloud(cloud: CloudProvider): CloudProvider {
    return {
      name: cloud.name,
      nodeClasses: cloud.nodeClasses,
      repairPolicies: cloud.repairPolicies,
      create: (claim) => this.write(`launch`, () => cloud.create(claim)),
      delete: (claim) => this.write(`terminate`, () => cloud.delete(claim)),
      get: (...request) => this.live(() => cloud.get(...request)),
      list: (...request) => this.live(() => cloud.list(...request)),
      instanceTypes: (...request) => this.live(() => cloud.instanceTypes(...request)),
      driftReason: (...request) => this.live(() => cloud.driftReason(...request)),
    };
  }

  private async write<R>(name: string, call: () => Promise<R>): Promise<R> {
    this.mustLive();
    const number = this.writes.push(name) - 1;
    if (this.death?.at !== number) return call();
    this.dead = true;
    if (this.death.moment === 'after') await call().catch(() => undefined);
    throw new Error('the process died');
  }

  private async live<R>(call: () => Promise<R>): Promise<R> {
    this.mustLive();
    return call();
  }

  private mustLive(): void {
    if (this.dead) throw new Error('the process is dead');
  }
}

function describe(request: readonly unknown[]): string {
  const [first, second] = request as readonly { kind?: string; name?: string; metadata?: { name?: string } }[];
  return `${first?.kind ?? 'Pod'} ${second?.name ?? second?.metadata?.name ?? ''}`;
}
