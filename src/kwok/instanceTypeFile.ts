/**
 * Reads the instance types of the kwok provider from a file. It is a JSON array of {name, architecture, operatingSystems, resources, offerings}; an offering
 * is {Price, Requirements: [{key, operator, values}]} and always available.
 */
import { Labels, WELL_KNOWN_LABELS } from '../api/labels.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { Requirement, type RequirementItem } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { parseResources, subtractResources } from '../units/resources.ts';
import { KwokLabels } from './kwokLabels.ts';

export interface FileInstanceType {
  readonly name: string;
  readonly architecture: string;
  readonly operatingSystems: readonly string[];
  readonly resources: Readonly<Record<string, string | number>>;
  readonly offerings: readonly FileOffering[];
}

interface FileOffering {
  readonly Price: number;
  readonly ReservationCapacity?: number;
  readonly Requirements: readonly RequirementItem[];
}

const OVERHEAD = parseResources({ cpu: '100m', memory: '10Mi' });
const DEFAULT_PODS = 110;
/** The size suffix of names such as `m5.12xlarge`: `large`, `xlarge`, `12xlarge`, `metal`. */
const SIZE = /\.([a-z0-9-]+)$/;
const FAMILY = /^([^.-]+)[.-]/;

export function parseInstanceTypes(text: string): readonly InstanceType[] {
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed)) throw new SyntaxError('it must be a JSON array');
  return parsed.map((entry, at) => {
    if (!isFileInstanceType(entry)) {
      throw new SyntaxError(`entry ${at} lacks a name, architecture, operatingSystems, resources or offerings`);
    }
    return instanceType(entry);
  });
}

export function instanceType({
  name,
  architecture,
  operatingSystems,
  resources,
  offerings,
}: FileInstanceType): InstanceType {
  const capacity = parseResources({ pods: DEFAULT_PODS, ...resources });
  const sold = offerings.map(offering);
  const cpu = capacity['cpu']?.toString() ?? '0';
  const described = new Map<string, readonly string[]>([
    [Labels.instanceType, [name]],
    [Labels.arch, [architecture]],
    [Labels.os, operatingSystems],
    [Labels.zone, distinct(sold.map(({ zone }) => zone))],
    [Labels.capacityType, distinct(sold.map(({ capacityType }) => capacityType))],
    [KwokLabels.instanceSize, [SIZE.exec(name)?.[1] ?? cpu]],
    [KwokLabels.instanceFamily, [FAMILY.exec(name)?.[1] ?? name.slice(0, 1)]],
    [KwokLabels.instanceCpu, [cpu]],
    [KwokLabels.instanceMemory, [capacity['memory']?.toString() ?? '0']],
  ]);
  const silent = [...WELL_KNOWN_LABELS].filter((key) => !described.has(key) && key !== Labels.nodePool);
  return {
    name,
    requirements: Requirements.of(
      ...[...described].map(([key, values]) => Requirement.of(key, 'In', [...values])),
      ...silent.map((key) => Requirement.of(key, 'DoesNotExist', [])),
    ),
    offerings: sold,
    capacity,
    allocatable: subtractResources(capacity, OVERHEAD),
  };
}

function offering({
  Price: price,
  ReservationCapacity: reservationCapacity,
  Requirements: items,
}: FileOffering): Offering {
  const valueOf = (key: string): string => items.find((item) => item.key === key)?.values?.[0] ?? '';
  const capacityType = valueOf(Labels.capacityType);
  return {
    requirements: Requirements.fromItems(items),
    zone: valueOf(Labels.zone),
    capacityType: capacityType === 'spot' || capacityType === 'reserved' ? capacityType : 'on-demand',
    price,
    available: true,
    ...(reservationCapacity !== undefined && { reservationCapacity }),
  };
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

function isFileInstanceType(value: unknown): value is FileInstanceType {
  if (typeof value !== 'object' || value === null) return false;
  const entry = value as Partial<Record<keyof FileInstanceType, unknown>>;
  return (
    typeof entry.name === 'string' &&
    typeof entry.architecture === 'string' &&
    Array.isArray(entry.operatingSystems) &&
    typeof entry.resources === 'object' &&
    entry.resources !== null &&
    Array.isArray(entry.offerings) &&
    entry.offerings.every(isFileOffering)
  );
}

function isFileOffering(value: unknown): value is FileOffering {
  if (typeof value !== 'object' || value === null) return false;
  const entry = value as Partial<Record<keyof FileOffering, unknown>>;
  return typeof entry.Price === 'number' && Array.isArray(entry.Requirements);
}
