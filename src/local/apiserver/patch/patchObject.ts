/** All patch types on one object or on its scale. In: a patch and its type. Out: the patched object. */
import { isFields, type ApiObject, type Fields } from '../fields.ts';
import { shapeNamed } from '../kubernetesTypes.ts';
import type { Objects, WriteRequest } from '../objects.ts';
import type { Resource } from '../resource.ts';
import type { Shape } from '../shape.ts';
import { badRequest, unfitPatch, unsupportedMediaType } from '../status.ts';
import { writeScale } from '../subresources.ts';
import { goText } from './goText.ts';
import { applyJsonPatch, PatchFailed } from './jsonPatch.ts';
import { applyMergePatch } from './mergePatch.ts';
import { applyStrategicMerge } from './strategicMerge.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const SCALE_TYPE = 'io.k8s.api.autoscaling.v1.Scale';
const CUSTOM_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];

export interface PatchRequest extends WriteRequest {
  readonly type: PatchType;
  readonly body: unknown;
  readonly force: boolean;
}

export function patchObject(
  objects: Objects,
  resource: Resource,
  namespace: string | undefined,
  name: string,
  request: PatchRequest,
): { readonly object: ApiObject; readonly created: boolean } {
  if (request.type === 'strategic' && resource.custom) throw unsupportedMediaType(CUSTOM_TYPES);
  if (request.subresource === 'scale') {
    const shape = shapeNamed(SCALE_TYPE);
    const object = writeScale(objects, resource, namespace, name, request, (scale) => patched(shape, scale, request));
    return { object, created: false };
  }
  if (request.type === 'apply') {
    if (!isFields(request.body)) throw badRequest('an applied configuration is an object');
    return objects.apply(resource, namespace, name, request.body, request.force, request);
  }
  const change = (live: ApiObject): Fields => patched(resource.shape, live, request);
  const shown = (changed: Fields): string =>
    request.type === 'strategic' ? goText(request.body) : JSON.stringify(changed);
  const object = objects.update(
    resource,
    namespace,
    name,
    { ...request, patchText: shown, patchKind: request.type },
    change,
  );
  return { object, created: false };
}

function patched(shape: Shape, live: ApiObject, request: PatchRequest): Fields {
  const result = applyPatch(shape, live, request);
  if (!isFields(result)) throw unfitPatch();
  return result;
}

function applyPatch(shape: Shape, live: ApiObject, { type, body }: PatchRequest): unknown {
  switch (type) {
    case 'json':
      try {
        return applyJsonPatch(live, body);
      } catch (error) {
        if (error instanceof PatchFailed) throw unfitPatch();
        throw error;
      }
    case 'strategic':
      if (!isFields(body)) throw badRequest(notAMap(body));
      return applyStrategicMerge(shape, live, body);
    case 'merge':
    case 'apply':
      if (!isFields(body)) throw badRequest(notAMap(body));
      return applyMergePatch(live, body);
  }
}

function notAMap(body: unknown): string {
  const found = Array.isArray(body) ? 'array' : typeof body === 'boolean' ? 'bool' : typeof body;
  return `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
}
