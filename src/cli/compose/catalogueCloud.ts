import { InvariantError } from '../../errors/invariantError.ts';
import { Kinds } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import { bundledInstanceTypes } from '../../catalogue/bundledCatalogue.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import { defaultCatalogue } from '../../kwok/defaultCatalogue.ts';

export interface CatalogueCloudOptions {
  /** The node class kinds of the cluster. */
  readonly nodeClasses: CloudProvider['nodeClasses'];
  readonly region: string;
  /** Used instead of the bundled ones. */
  readonly instanceTypes?: readonly InstanceType[];
}

/** A cloud with only a catalogue, for reading a cluster from outside: it cannot launch or remove anything. */
export function catalogueCloud({ nodeClasses, region, instanceTypes }: CatalogueCloudOptions): CloudProvider {
  const byClass = new Map<string, readonly InstanceType[]>();
  const refuse = async (): Promise<never> => {
    throw new InvariantError('a catalogue has no instances');
  };
  return {
    name: 'catalogue',
    nodeClasses,
    create: refuse,
    delete: refuse,
    get: refuse,
    list: async () => [],
    instanceTypes: async (_pool, nodeClass) => {
      if (instanceTypes !== undefined) return instanceTypes;
      const key = `${nodeClass.kind}/${nodeClass.metadata.name}`;
      const known = byClass.get(key) ?? typesOf(nodeClass.kind === Kinds.KWOKNodeClass.kind, nodeClass, region);
      byClass.set(key, known);
      return known;
    },
    driftReason: async () => undefined,
    repairPolicies: [],
  };
}

function typesOf(isKwok: boolean, nodeClass: object, region: string): readonly InstanceType[] {
  return isKwok ? defaultCatalogue() : bundledInstanceTypes({ region, nodeClass: nodeClass as AksNodeClass });
}
