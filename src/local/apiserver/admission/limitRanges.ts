/**
 * LimitRanges: sets defaults in new pods, and rejects pods and PersistentVolumeClaims out of bounds with a Forbidden
 * error that lists all violations.
 */
import type { Quantity } from '../../../units/quantity.ts';
import { ensureFields, fieldsAt, isFields, listAt, textAt, type ApiObject } from '../fields.ts';
import type { StrategyContext } from '../resource.ts';
import { forbidden } from '../status.ts';
import { amountsAt, podAmounts, type Amounts } from './podResources.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

function limitsFor(context: StrategyContext, namespace: string | undefined, type: string): unknown[] {
  return [...context.inNamespace('', 'limitranges', namespace ?? '')].flatMap((range) =>
    listAt(range, 'spec', 'limits').filter((limit) => textAt(limit, 'type') === type),
  );
}

export function admitPodLimits(pod: ApiObject, context: StrategyContext): void {
  const { namespace } = pod.metadata;
  if (!context.any('', 'limitranges')) return;
  const ofContainers = limitsFor(context, namespace, 'Container');
  for (const limit of ofContainers) applyDefaults(pod, limit);
  const problems: string[] = [];
  const containers = [...listAt(pod, 'spec', 'containers'), ...listAt(pod, 'spec', 'initContainers')];
  for (const limit of ofContainers) {
    for (const container of containers) {
      const requests = amountsAt(container, 'resources', 'requests');
      problems.push(...check(limit, 'Container', requests, amountsAt(container, 'resources', 'limits')));
    }
  }
  for (const limit of limitsFor(context, namespace, 'Pod')) {
    problems.push(...check(limit, 'Pod', podAmounts(pod, 'requests'), podAmounts(pod, 'limits')));
  }
  refuse({ group: '', plural: 'pods' }, pod, problems);
}

export function admitClaimLimits(claim: ApiObject, context: StrategyContext): void {
  const limits = limitsFor(context, claim.metadata.namespace, 'PersistentVolumeClaim');
  const requests = amountsAt(claim, 'spec', 'resources', 'requests');
  const problems = limits.flatMap((limit) => check(limit, 'PersistentVolumeClaim', requests, undefined));
  refuse({ group: '', plural: 'persistentvolumeclaims' }, claim, problems);
}

function refuse(resource: { group: string; plural: string }, object: ApiObject, problems: readonly string[]): void {
  if (problems.length === 0) return;
  const why = problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
  throw forbidden(resource, object.metadata.name, why);
}

function applyDefaults(pod: ApiObject, limit: unknown): void {
  const notes: string[] = [];
  for (const [list, word] of Object.entries({ containers: 'container', initContainers: 'init container' })) {
    for (const container of listAt(pod, 'spec', list)) {
      if (!isFields(container)) continue;
      const name = textAt(container, 'name') ?? '';
      for (const [which, source] of Object.entries({ requests: 'defaultRequest', limits: 'default' })) {
        const defaults = fieldsAt(limit, source) ?? {};
        const present = fieldsAt(container, 'resources', which) ?? {};
        const added = Object.keys(defaults)
          .filter((one) => present[one] === undefined)
          .sort();
        if (added.length === 0) continue;
        const target = ensureFields(ensureFields(container, 'resources'), which);
        for (const one of added) target[one] = defaults[one];
        notes.push(`${added.join(', ')} ${which.slice(0, -1)} for ${word} ${name}`);
      }
    }
  }
  if (notes.length === 0) return;
  const note = `LimitRanger plugin set: ${notes.join('; ')}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [ANNOTATION]: note };
}

function check(limit: unknown, type: string, requests: Amounts, limits: Amounts | undefined): string[] {
  const problems: string[] = [];
  const bound = (which: string): [string, Quantity][] =>
    [...amountsAt(limit, which)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, least] of bound('min')) {
    const request = requests.get(name);
    const most = limits?.get(name);
    const wanted = `minimum ${name} usage per ${type} is ${least.toString()}`;
    if (request === undefined) problems.push(`${wanted}.  No request is specified`);
    else if (request.compare(least) < 0) problems.push(`${wanted}, but request is ${request.toString()}`);
    else if (most !== undefined && most.compare(least) < 0) problems.push(`${wanted}, but limit is ${most.toString()}`);
  }
  for (const [name, most] of bound('max')) {
    const request = requests.get(name);
    const asked = limits === undefined ? request : limits.get(name);
    const wanted = `maximum ${name} usage per ${type} is ${most.toString()}`;
    const word = limits === undefined ? 'request' : 'limit';
    if (asked === undefined) problems.push(`${wanted}.  No ${word} is specified`);
    else if (asked.compare(most) > 0) problems.push(`${wanted}, but ${word} is ${asked.toString()}`);
    else if (request !== undefined && request.compare(most) > 0) {
      problems.push(`${wanted}, but request is ${request.toString()}`);
    }
  }
  for (const [name, ratio] of bound('maxLimitRequestRatio')) {
    const request = requests.get(name);
    const most = limits?.get(name);
    const wanted = `${name} max limit to request ratio per ${type} is ${ratio.toString()}`;
    if (request === undefined || request.isZero()) {
      problems.push(`${wanted}, but no request is specified or request is 0`);
    } else if (most === undefined || most.isZero()) {
      problems.push(`${wanted}, but no limit is specified or limit is 0`);
    } else {
      const actual = most.milliValue() / request.milliValue();
      if (actual > ratio.milliValue() / 1000) problems.push(`${wanted}, but provided ratio is ${actual.toFixed(6)}`);
    }
  }
  return problems;
}
