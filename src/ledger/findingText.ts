import { countText, groupedText } from './countText.ts';
import { fixLines } from './explanationText.ts';
import type { Finding, Trap } from './finding.ts';
import { notReadyText } from './poolStateText.ts';

export function trapText(trap: Trap): string {
  switch (trap.check) {
    case 'pool-not-ready':
      return `it is not ready and gets no node: ${notReadyText(trap)}`;
    case 'pool-refuses-all':
      return `no pod can get a node of it: ${trap.sentence}`;
    case 'limit-reached':
      return `no node can be added: ${trap.sentence}`;
    case 'limit-near':
      return `${trap.percent} % of its limit of ${trap.resource} is used`;
    case 'default-budget':
      return `it has the default budget: at most 10 % of its ${countText(trap.nodes, 'node')} are disrupted at once, even empty ones`;
    case 'budget-blocks':
      return `its budgets never allow disruption for ${trap.reasons.join(', ')}`;
    case 'budget-unreadable':
      return `budgets[${trap.index}].${trap.field} "${trap.value}" cannot be read, and no node of it is disrupted`;
    case 'overlapping-pools':
      return `a pod may get a node of it or of NodePool "${trap.other}": both have weight ${trap.weight}`;
    case 'consolidation-never':
      return 'its nodes are never consolidated: consolidateAfter is Never';
    case 'budget-allows-nothing':
      return trap.pods === 1
        ? 'it never lets its pod be evicted, so the node of it cannot be drained'
        : `it never lets any of its ${countText(trap.pods, 'pod')} be evicted, so their nodes cannot be drained`;
    case 'budgets-overlap':
      return `it and ${trap.other} both select ${trap.pod}: an eviction can serve one budget only, so it is refused`;
    case 'no-requests':
      return `${countText(trap.pods, 'pod')} ${trap.pods === 1 ? 'requests' : 'request'} no ${trap.resources.join(' and no ')}: nodes are bought without room for them`;
    case 'held-node':
      return `${countText(trap.nodes, 'node')} that could save $${groupedText(Math.round(trap.savingsPerMonth))} per month cannot be removed: ${trap.sentence}`;
    case 'drift-held':
      return `it has drifted (${trap.reason}) and cannot be replaced: ${trap.sentence}`;
    case 'image-drifts':
      return `${trap.nodes} of its ${countText(trap.of, 'node')} run an older image and are replaced at any time of the day`;
    case 'spread-blocks':
      return `its ${countText(trap.pods, 'pod')} must spread over ${trap.keys.join(' and ')}: consolidation keeps nodes for that which cost $${groupedText(Math.round(trap.savingsPerMonth))} per month${trap.nodes > 0 ? `, ${countText(trap.nodes, 'node')} more than without it` : ''}`;
    case 'pods-stuck':
      return `${countText(trap.pods, 'pod')} of it cannot get a node, such as ${trap.example}: ${trap.sentence}`;
    case 'rights-missing':
      return `it lacks ${countText(trap.rights.length, 'right')}${trap.purpose === 'core' ? '' : `, needed for ${trap.purpose}`}: ${shortList(trap.rights)}`;
    case 'rights-unknown':
      return 'its rights cannot be checked from here';
    case 'quota-unknown':
      return `their usage is not known: ${trap.problem}`;
    case 'quota-near':
      return `${groupedText(trap.used)} of ${groupedText(trap.limit)} are used in ${trap.region}${trap.used >= trap.limit ? ', and nothing more of it can be launched' : ''}`;
  }
}

const SHOWN = 6;

function shortList(items: readonly string[]): string {
  const more = items.length - SHOWN;
  return `${items.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Worst first, each with its best fix. */
export function findingsText(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'No problems found.\n';
  const lines = findings.flatMap(({ severity, check, object, sentence, fixes }) => {
    const name = `${object.kind} ${object.namespace === undefined ? '' : `${object.namespace}/`}${object.name}`;
    const [best] = fixes;
    return [
      `${severity.toUpperCase()} ${check}  ${name}: ${sentence}`,
      ...(best ? fixLines(best, 'Fix').map((line) => `  ${line}`) : []),
      '',
    ];
  });
  return `${lines.join('\n')}`;
}
