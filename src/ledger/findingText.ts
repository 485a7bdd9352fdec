import { countText, groupedText } from './countText.ts';
import { fixLines } from './explanationText.ts';
import type { Finding, Trap } from './finding.ts';

export function trapText(trap: Trap): string {
  switch (trap.check) {
    case 'pool-not-ready':
      return `it is not ready and gets no node: ${trap.reason}${trap.message === '' ? '' : `, ${trap.message}`}`;
    case 'pool-refuses-all':
      return `no pod can get a node of it: ${trap.sentence}`;
    case 'limit-reached':
      return `it cannot have another node: ${trap.sentence}`;
    case 'limit-near':
      return `${trap.percent} % of its limit of ${trap.resource} is used`;
    case 'default-budget':
      return `it has the default budget: at most 10 % of its ${countText(trap.nodes, 'node')} go at once, empty ones too`;
    case 'budget-blocks':
      return `its budgets never let a node go for ${trap.reasons.join(', ')}`;
    case 'budget-unreadable':
      return `budgets[${trap.index}].${trap.field} "${trap.value}" cannot be read, and no node of it is disrupted`;
    case 'overlapping-pools':
      return `a pod may get a node of it or of NodePool "${trap.other}": both have weight ${trap.weight}`;
    case 'consolidation-never':
      return 'its nodes are never consolidated: consolidateAfter is Never';
    case 'budget-allows-nothing':
      return `it never lets any of its ${countText(trap.pods, 'pod')} be evicted, so their nodes cannot be drained`;
    case 'budgets-overlap':
      return `it and ${trap.other} both select ${trap.pod}: an eviction can serve one budget only, so it is refused`;
    case 'no-requests':
      return `${countText(trap.pods, 'pod')} ask for no ${trap.resources.join(' and no ')}: nodes are bought without room for them`;
    case 'held-node':
      return `${countText(trap.nodes, 'node')} that could save $${groupedText(Math.round(trap.savingsPerMonth))} per month cannot go: ${trap.sentence}`;
    case 'drift-held':
      return `it has drifted (${trap.reason}) and cannot be replaced: ${trap.sentence}`;
  }
}

/** Worst first, each with its best fix. */
export function findingsText(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'Nothing to object to.\n';
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
