/** Renders reasons. Events, logs, reports and views print these texts and create none of their own. */
import { Requirements } from '../constraints/requirements.ts';
import type { RequirementItem } from '../constraints/requirement.ts';
import { formatTaint } from '../pods/taints.ts';
import type {
  LabelConflict,
  NodeRefusal,
  PoolRefusal,
  PortConflict,
  QuotaShortage,
  RefusedTaint,
  StageRefusal,
  TopologyConflict,
  UnplacedReason,
} from '../solver/reasons.ts';
import { amountText } from './amountText.ts';

const FEATURES = { 'dynamic-resource-claims': 'dynamic resource claims' } as const;
const SHOWN_TYPES = 3;

/** One line per pool and one for the existing nodes; the one-line form joins them with "; ". */
export function reasonLines(reason: UnplacedReason): string[] {
  switch (reason.kind) {
    case 'unsupported':
      return [`it uses ${FEATURES[reason.feature]}, which are not supported`];
    case 'no-pools':
      return ['no NodePool is ready', ...nodeLine(reason.nodes)];
    case 'group':
      return [
        `only ${reason.placeable} of the ${reason.needed} pods that group "${reason.group}" needs together have a place`,
      ];
    case 'reservation':
      return [
        `waiting: reservation ${reason.reservations.join(', ')} of NodePool "${reason.pool}" is used up by this plan; retrying in the next pass`,
      ];
    case 'refused':
      return [...reason.pools.map(poolRefusalText), ...nodeLine(reason.nodes)];
  }
}

export function reasonText(reason: UnplacedReason): string {
  return reasonLines(reason).join('; ');
}

export function poolRefusalText(refusal: PoolRefusal): string {
  return `NodePool "${refusal.pool}": ${stageText(refusal)}`;
}

function stageText(refusal: StageRefusal): string {
  switch (refusal.stage) {
    case 'taints':
      return `did not tolerate ${refusal.taints.map(taintText).join(', ')}`;
    case 'requirements':
      return `incompatible requirements, ${refusal.conflicts.map(conflictText).join('; ')}`;
    case 'instance-types':
      return refusal.byPoolAlone
        ? `no instance type meets the NodePool's own ${unmetText(refusal.unmet)}`
        : `no instance type meets ${unmetText(refusal.unmet)}`;
    case 'resources':
      return 'unknownResource' in refusal
        ? `no instance type has the resource ${refusal.unknownResource}`
        : `no instance type is large enough; the nearest, ${refusal.nearest.instanceType}, lacks ${refusal.nearest.lacks.map(amountText).join(' and ')}`;
    case 'offerings':
      return refusal.unmet.length > 0
        ? `${someTypes(refusal.instanceTypes)} fit, but are not offered with ${unmetText(refusal.unmet)}`
        : `${someTypes(refusal.instanceTypes)} fit, but are not available now`;
    case 'host-ports':
      return `host port ${refusal.ports.map(portText).join(', ')} on every node`;
    case 'volumes':
      return 'keys' in refusal
        ? `its volumes need different values of ${refusal.keys.join(', ')}, so no node can attach them all`
        : `its volumes need ${refusal.alternatives.map(itemsText).join(' or ')}`;
    case 'limits':
      return `spec.limits of ${refusal.limits.join(', ')} would be exceeded`;
    case 'quota':
      return `no quota is left: ${refusal.shortages.map(shortageText).join(', ')}`;
    case 'min-values':
      return `minValues of ${refusal.key} asks for ${refusal.atLeast} values and ${refusal.offered} are left`;
    case 'topology':
      return refusal.conflicts.length === 0
        ? 'its topology constraints cannot be satisfied together with the pods already placed'
        : `no domain satisfies ${[...new Set(refusal.conflicts.map(topologyText))].join(' and ')}`;
  }
}

const STAGES: Readonly<Record<NodeRefusal['stage'], string>> = {
  'not-ready': 'not ready or overcommitted',
  taints: 'untolerated taints',
  requirements: 'other labels than required',
  volumes: 'out of reach of its volumes',
  resources: 'not enough room',
  'host-ports': 'host port taken or too many disks attached',
  topology: 'topology constraints',
};

function nodeLine(nodes: readonly NodeRefusal[]): string[] {
  if (nodes.length === 0) return [];
  const total = nodes.reduce((sum, each) => sum + each.nodes, 0);
  const parts = nodes.map(({ stage, nodes: count, example }) => `${count} ${STAGES[stage]} (such as ${example})`);
  return [`0 of ${total} existing node${total === 1 ? '' : 's'}: ${parts.join(', ')}`];
}

function someTypes(names: readonly string[]): string {
  const more = names.length - SHOWN_TYPES;
  return `${names.slice(0, SHOWN_TYPES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

export function taintText(taint: RefusedTaint): string {
  return formatTaint(taint);
}

/** `topology.kubernetes.io/zone In [a b]`. */
function itemsText(items: readonly RequirementItem[]): string {
  return Requirements.fromItems(items).toString();
}

function unmetText(unmet: readonly LabelConflict[]): string {
  if (unmet.length === 0) return 'requirements';
  return unmet.map(({ asked }) => itemsText(asked)).join(' and ');
}

function conflictText({ key, asked, allowed, typoOf }: LabelConflict): string {
  if (allowed !== undefined) return `key ${key}, ${itemsText(asked)} not in ${itemsText(allowed)}`;
  return `label "${key}" does not have known values${typoOf === undefined ? '' : ` (typo of "${typoOf}"?)`}`;
}

function portText({ port, protocol, daemon }: PortConflict): string {
  return `${port}/${protocol} is taken by ${daemon === undefined ? 'a daemon' : `daemon ${daemon}`}`;
}

function shortageText({ quota, limit, used, needed }: QuotaShortage): string {
  return `${quota} has ${used} of ${limit} in use and ${needed} more are needed`;
}

function topologyText({ kind, topologyKey, maxSkew, minDomains, domains, more }: TopologyConflict): string {
  const least = minDomains === undefined || minDomains <= 1 ? '' : ` and minDomains ${minDomains}`;
  const name = kind === 'spread' ? `spread with maxSkew ${maxSkew ?? 1}${least}` : kind;
  if (domains.length === 0) return `${name} over ${topologyKey}, a label that no node has`;
  const shown = domains.map(({ domain, pods }) => `${domain}: ${pods}`).join(', ');
  return `${name} over ${topologyKey} (pods by domain: ${shown}${more > 0 ? `, and ${more} more` : ''})`;
}
