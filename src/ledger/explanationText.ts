import type { ExplainedFix, Explanation, Patch } from './explanation.ts';

/** An explanation as text: the sentence, the evidence, and each fix with its command. */
export function explanationText({ object, sentence, evidence, fixes }: Explanation): string {
  const lines = [
    `${object.kind} ${object.namespace === undefined ? '' : `${object.namespace}/`}${object.name}: ${sentence}`,
  ];
  const more = evidence.filter((line) => line !== sentence);
  if (more.length > 0) lines.push('', 'Evidence:', ...more.map((line) => `  ${line}`));
  fixes.forEach((fix, at) => lines.push('', ...fixLines(fix, `Fix${fixes.length > 1 ? ` ${at + 1}` : ''}`)));
  return `${lines.join('\n')}\n`;
}

/** Why there is no explanation of a node. */
type Unexplained =
  | { readonly kind: 'agent-pool' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly problem: string };

export function unexplainedText(why: Unexplained): string {
  switch (why.kind) {
    case 'agent-pool':
      return 'It belongs to an agent pool, which nodewright does not manage.';
    case 'unknown':
      return 'It is not known yet.';
    case 'failed':
      return `It cannot be explained now: ${why.problem}`;
  }
}

/** The fix as text, with its commands. */
export function fixLines({ sentence, patches }: ExplainedFix, title: string): readonly string[] {
  return [`${title}: ${sentence}`, ...patches.map((patch) => `  ${commandText(patch)}`)];
}

function commandText({ target, type, patch }: Patch): string {
  const where = target.namespace === undefined ? '' : ` -n ${target.namespace}`;
  const object = `${target.kind.toLowerCase()} ${target.name}${where}`;
  const body = JSON.stringify(patch).replaceAll("'", `'\\''`);
  switch (type) {
    case 'merge':
      return `kubectl patch ${object} --type merge -p '${body}'`;
    case 'delete':
      return `kubectl delete ${object}`;
    case 'create':
      return `echo '${body}' | kubectl create -f -`;
  }
}
