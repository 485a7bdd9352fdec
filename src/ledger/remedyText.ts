import type { Remedy } from './remedy.ts';

/** The remedy as an instruction. */
export function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'double-limit':
      return `double spec.limits.${remedy.resource}`;
    case 'remove-budget':
      return `remove budgets[${remedy.index}]`;
    case 'open-budgets':
      return `allow ${remedy.percent} % of the nodes to be disrupted at once`;
    case 'free-empty-nodes':
      return 'allow all empty nodes to be removed at once';
    case 'consolidate':
      return 'consolidate nodes after five minutes without a pod event';
    case 'replace-at-night':
      return 'replace them between 22:00 and 6:00 UTC only';
    case 'prefer-pool':
      return `prefer NodePool "${remedy.pool}"`;
    case 'allow-one-unavailable':
      return 'allow one unavailable pod';
    case 'select-nothing':
      return 'make it select nothing';
    case 'double-skew':
      return 'double its maxSkew';
    case 'drop-spread':
      return 'drop the spread';
    case 'use-class':
      return `make it use ${remedy.nodeClass}, which is ready`;
    case 'create-class':
      return `create ${remedy.nodeClass}, to which it refers and which does not exist`;
    case 'repair-class':
      return `make ${remedy.nodeClass} ready: its conditions say what it lacks`;
    case 'look-at-pool':
      return `the conditions of NodePool "${remedy.pool}" say what it lacks`;
    case 'ask-for':
      return `make its containers request ${remedy.resources.join(' and ')}, about as much as they use (kubectl top pods)`;
    case 'sign-in':
      return 'sign in to Azure with an account that may read the subscription';
    case 'raise-quota':
      return `ask Azure for a higher limit of ${remedy.quota} in ${remedy.region} (Quotas in the portal, or az quota)`;
    case 'widen-families':
      return 'allow instance types of other families in the NodePools';
    case 'ask-as-reviewer':
      return 'ask with an account that may create subjectaccessreviews.authorization.k8s.io';
    case 'grant-by-hand':
      return `install the chart of this version, or add rules to a role of it: ${JSON.stringify(remedy.rules)}`;
    case 'add-rules':
      return `add rules to its ${remedy.role}`;
  }
}
