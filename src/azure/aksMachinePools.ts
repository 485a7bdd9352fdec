/** The pools of AKS machines: the one for new machines, and others named by claims. */
import { AksMachines, type AksMachinesOptions } from './aksMachines.ts';

export interface AksMachineAddress {
  readonly clusterResourceGroup: string;
  readonly clusterName: string;
  readonly pool: string;
  /** Of the machine. */
  readonly name: string;
}

type PoolAddress = Omit<AksMachineAddress, 'name'>;

export interface AksMachinePoolsOptions extends Omit<AksMachinesOptions, keyof PoolAddress | 'batch'> {
  readonly own: PoolAddress & Pick<AksMachinesOptions, 'batch'>;
}

/** Few clusters have more than one. */
const MAX_POOLS = 100;

export class AksMachinePools {
  private readonly options: AksMachinePoolsOptions;
  private readonly pools = new Map<string, AksMachines>();

  constructor(options: AksMachinePoolsOptions) {
    this.options = options;
  }

  /** The pool from the options; undefined when they name none. */
  get own(): AksMachines | undefined {
    const { own } = this.options;
    return own.pool === '' || own.clusterResourceGroup === '' ? undefined : this.at(own);
  }

  at({ clusterResourceGroup, clusterName, pool }: PoolAddress): AksMachines {
    const { own, ...shared } = this.options;
    const key = `${clusterResourceGroup}/${clusterName}/${pool}`.toLowerCase();
    const known = this.pools.get(key);
    if (known !== undefined) return known;
    if (this.pools.size >= MAX_POOLS) this.pools.clear();
    const { batch } = own;
    const made = new AksMachines({ ...shared, clusterResourceGroup, clusterName, pool, batch });
    this.pools.set(key, made);
    return made;
  }
}
