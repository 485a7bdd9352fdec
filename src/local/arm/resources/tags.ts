/** `Microsoft.Resources/tags`: the tags of a group or a resource, separately from it, and all tag names in use. */
import { listed, type ArmContext } from '../armContext.ts';
import { textAt, textsAt } from '../jsonPath.ts';
import { refusal } from '../refusal.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { checkTags } from './requestRules.ts';

type Tags = Readonly<Record<string, string>>;

interface Tagged {
  readonly tags: Tags;
  readonly write: (tags: Tags) => void;
}

const SUBSCRIPTION = '/subscriptions/{subscription}';
const GROUP = `${SUBSCRIPTION}/resourceGroups/{group}`;
const RESOURCE = `${GROUP}/providers/{namespace}/{type}/{name}`;
const SUFFIX = '/providers/Microsoft.Resources/tags/default';

/** The effects of a PATCH on existing tags. */
const CHANGES: Readonly<Record<string, (before: Tags, given: Tags) => Tags>> = {
  Merge: (before, given) => ({ ...before, ...given }),
  Replace: (_before, given) => given,
  Delete: (before, given) =>
    Object.fromEntries(Object.entries(before).filter(([name, value]) => given[name] !== value)),
};

export function tagRoutes(context: ArmContext): readonly Route[] {
  const scopes = [
    { path: GROUP, find: (request: ArmRequest) => ofGroup(context, request) },
    { path: RESOURCE, find: (request: ArmRequest) => ofResource(context, request) },
  ];
  return [
    route('tags.list', 'GET', `${SUBSCRIPTION}/tagNames`, () => listed(namesInUse(context))),
    ...scopes.flatMap(({ path, find }) => {
      const answer = (request: ArmRequest, change: (before: Tags) => Tags): ArmResponse => {
        const tagged = find(request);
        const tags = change(tagged.tags);
        if (tags !== tagged.tags) tagged.write(tags);
        return ok({ id: request.path, name: 'default', type: 'Microsoft.Resources/tags', properties: { tags } });
      };
      return [
        route('tags.getAtScope', 'GET', `${path}${SUFFIX}`, (request) => answer(request, (before) => before)),
        route('tags.createOrUpdateAtScope', 'PUT', `${path}${SUFFIX}`, (request) =>
          answer(request, () => given(request)),
        ),
        route('tags.updateAtScope', 'PATCH', `${path}${SUFFIX}`, (request) => {
          const operation = textAt(request.body, 'operation') ?? '';
          const change = CHANGES[operation];
          if (change === undefined) throw refusal('InvalidTagsPatchOperation', { operation });
          return answer(request, (before) => change(before, given(request)));
        }),
        route('tags.deleteAtScope', 'DELETE', `${path}${SUFFIX}`, (request) => {
          find(request).write({});
          return { status: 200 };
        }),
      ];
    }),
  ];
}

function given({ body }: ArmRequest): Tags {
  return checkTags({ tags: textsAt(body, 'properties', 'tags') });
}

function ofGroup({ store }: ArmContext, { parameters: { group = '' } }: ArmRequest): Tagged {
  const found = store.group(group);
  return { tags: found.tags ?? {}, write: (tags) => store.putGroup({ ...found, tags }) };
}

function ofResource({ store, random }: ArmContext, { parameters }: ArmRequest): Tagged {
  const { group = '', namespace = '', type = '', name = '' } = parameters;
  const found = store.get(group, `${namespace}/${type}`, name);
  return {
    tags: found.tags ?? {},
    write: (tags) => store.put({ ...found, tags, etag: `W/"${random.uuid()}"` }),
  };
}

function namesInUse({ store }: ArmContext): readonly object[] {
  const uses = new Map<string, Map<string, number>>();
  for (const { tags = {} } of [...store.allGroups(), ...store.all()]) {
    for (const [name, value] of Object.entries(tags)) {
      const values = uses.get(name) ?? new Map<string, number>();
      uses.set(name, values.set(value, (values.get(value) ?? 0) + 1));
    }
  }
  const root = `/subscriptions/${store.subscriptionId}/tagNames`;
  const total = (value: number): object => ({ type: 'Total', value });
  return [...uses].map(([tagName, values]) => ({
    id: `${root}/${tagName}`,
    tagName,
    count: total([...values.values()].reduce((sum, each) => sum + each, 0)),
    values: [...values].map(([tagValue, count]) => ({
      id: `${root}/${tagName}/tagValues/${tagValue}`,
      tagValue,
      count: total(count),
    })),
  }));
}
