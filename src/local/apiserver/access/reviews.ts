/** Answers reviews of access and of users. */
import type { Clock } from '../../../clock/clock.ts';
import { timestamp } from '../../../units/timestamp.ts';
import { ownershipAfterUpdate } from '../apply/managedFields.ts';
import { decodeReview } from '../decoding.ts';
import { fieldsAt, listAt, textAt, withoutAbsent, type ApiObject, type Fields } from '../fields.ts';
import { shapeNamed } from '../kubernetesTypes.ts';
import { badRequest, invalid } from '../status.ts';
import { Check } from '../strategies/check.ts';
import type { Authorizer } from './authorizer.ts';
import type { Attributes, PolicyRule } from './policyRules.ts';
import type { User } from './user.ts';

export interface Review {
  readonly kind: string;
  readonly body: Fields;
  readonly user: User;
  readonly fieldManager: string;
  /** The namespace in the path of a LocalSubjectAccessReview. */
  readonly namespace: string | undefined;
}

export interface ReviewContext {
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  /** Returns the user of a bearer token; undefined for an invalid one. */
  authenticate(token: string): User | undefined;
}

export function answerReview(review: Review, context: ReviewContext): object {
  const { kind, body, user } = review;
  const typed = { kind, apiVersion: body['apiVersion'] };
  switch (kind) {
    case 'SelfSubjectReview': {
      const metadata = { creationTimestamp: timestamp(context.clock.now()) };
      return { ...typed, metadata, status: { userInfo: userInfo(user) } };
    }
    case 'TokenReview': {
      const owner = context.authenticate(textAt(body, 'spec', 'token') ?? '');
      const audiences = listAt(body, 'spec', 'audiences').map(String);
      const status =
        owner === undefined
          ? { user: {}, error: 'invalid bearer token' }
          : { authenticated: true, user: userInfo(owner), ...(audiences.length > 0 && { audiences }) };
      return { ...reviewed(review, context, 'authentication'), status };
    }
    case 'SelfSubjectRulesReview':
      return { ...reviewed(review, context, 'authorization'), status: rulesStatus(review, context.authorizer) };
    default: {
      checkReview(review);
      const who = kind === 'SelfSubjectAccessReview' ? user : subjectOf(body);
      const { allowed, reason } = context.authorizer.decide(who, askedFor(review));
      const status = { allowed, ...(reason !== '' && { reason }) };
      return { ...reviewed(review, context, 'authorization'), status };
    }
  }
}

function userInfo({ name, uid, groups, extra }: User): object {
  return withoutAbsent({ username: name, uid, groups, extra });
}

/** Returns the posted review with managed fields. */
function reviewed({ kind, body, fieldManager }: Review, { clock }: ReviewContext, inPackage: string): ApiObject {
  const shape = shapeNamed(`io.k8s.api.${inPackage}.v1.${kind}`);
  const value = decodeReview(kind, shape, body);
  const managedFields = ownershipAfterUpdate(shape, undefined, value, {
    manager: fieldManager,
    operation: 'Update',
    apiVersion: `${inPackage}.k8s.io/v1`,
    subresource: undefined,
    time: timestamp(clock.now()),
  });
  return { ...value, metadata: { ...value.metadata, managedFields } };
}

function subjectOf(body: Fields): User {
  const groups = listAt(body, 'spec', 'groups').map(String);
  return { name: textAt(body, 'spec', 'user') ?? '', groups, uid: textAt(body, 'spec', 'uid') };
}

function askedFor({ body }: Review): Attributes {
  const resource = fieldsAt(body, 'spec', 'resourceAttributes');
  if (resource === undefined) {
    const path = fieldsAt(body, 'spec', 'nonResourceAttributes');
    return { verb: textAt(path, 'verb') ?? '', path: textAt(path, 'path') ?? '' };
  }
  const text = (name: string): string => textAt(resource, name) ?? '';
  return {
    verb: text('verb'),
    path: '',
    resource: {
      group: text('group'),
      resource: text('resource'),
      subresource: text('subresource'),
      namespace: text('namespace'),
      name: text('name'),
    },
  };
}

function checkReview({ kind, body, namespace }: Review): void {
  const resource = fieldsAt(body, 'spec', 'resourceAttributes');
  const path = fieldsAt(body, 'spec', 'nonResourceAttributes');
  const spec = new Check(body['spec'], 'spec');
  if (resource !== undefined && path !== undefined) {
    spec.invalid('nonResourceAttributes', path, 'cannot be specified in combination with resourceAttributes');
  }
  if (resource === undefined && path === undefined) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    spec.invalid('resourceAttributes', null, why);
  }
  const hasSubject = spec.get('user') !== undefined || spec.list('groups').length > 0;
  if (kind !== 'SelfSubjectAccessReview' && !hasSubject) {
    spec.invalid('user', '', 'at least one of user or group must be specified');
  }
  if (spec.errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind }, '', spec.errors);
  if (kind === 'LocalSubjectAccessReview' && textAt(resource, 'namespace') !== namespace) {
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace ?? ''}`);
  }
}

function rulesStatus({ body, user }: Review, authorizer: Authorizer): object {
  const namespace = textAt(body, 'spec', 'namespace') ?? '';
  if (namespace === '') throw badRequest('no namespace on request');
  const { rules, errors } = authorizer.rulesOf(user, namespace);
  const onResources = rules.filter((rule) => rule.resources.length > 0);
  const onPaths = rules.filter((rule) => rule.nonResourceURLs.length > 0);
  return {
    resourceRules: onResources.map(({ verbs, apiGroups, resources, resourceNames: names }: PolicyRule) =>
      withoutAbsent({ verbs, apiGroups, resources, resourceNames: names.length === 0 ? undefined : names }),
    ),
    nonResourceRules: onPaths.map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: errors.length > 0,
    ...(errors.length > 0 && { evaluationError: errors.join(', ') }),
  };
}
