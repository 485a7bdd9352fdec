/** Remaining units of the catalogue's reservations, given the instances that use them. */
import { Labels } from '../api/labels.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';

type InstanceLabels = Readonly<Record<string, string>>;

export class Reservations {
  /** Whether the catalogue has reservations. */
  readonly any: boolean;
  private readonly types: readonly InstanceType[];
  /** Equal results are the same object, so that models compiled from it can be reused. */
  private last: { readonly used: string; readonly types: readonly InstanceType[] } | undefined;

  constructor(types: readonly InstanceType[]) {
    this.types = types;
    this.any = types.some(({ offerings }) => offerings.some(isReserved));
  }

  left(instances: readonly InstanceLabels[]): readonly InstanceType[] {
    if (!this.any) return this.types;
    const used = new Map<string, number>();
    for (const labels of instances) {
      if (labels[Labels.capacityType] !== 'reserved') continue;
      const key = keyOf(labels[Labels.instanceType] ?? '', labels[Labels.zone] ?? '');
      used.set(key, (used.get(key) ?? 0) + 1);
    }
    const question = JSON.stringify([...used].sort(([left], [right]) => (left < right ? -1 : 1)));
    if (this.last?.used !== question) this.last = { used: question, types: this.types.map(remaining(used)) };
    return this.last.types;
  }
}

function remaining(used: ReadonlyMap<string, number>): (type: InstanceType) => InstanceType {
  return (type) => {
    if (!type.offerings.some(({ zone }) => used.has(keyOf(type.name, zone)))) return type;
    const offerings = type.offerings.map((offering): Offering => {
      if (!isReserved(offering)) return offering;
      const taken = used.get(keyOf(type.name, offering.zone)) ?? 0;
      const reservationCapacity = Math.max(0, (offering.reservationCapacity ?? 0) - taken);
      return { ...offering, reservationCapacity, available: offering.available && reservationCapacity > 0 };
    });
    return { ...type, offerings };
  };
}

const isReserved = ({ capacityType }: Offering): boolean => capacityType === 'reserved';
const keyOf = (type: string, zone: string): string => `${type}\n${zone}`;
