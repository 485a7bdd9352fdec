/** Patches an object, or its scale, with any patch type. */
import { isFields, jsonType, type ApiObject, type Fields } from '../fields.ts';
import { shapeNamed } from '../kubernetesTypes.ts';
import type { Objects } from '../objects.ts';
import type { Target } from '../resource.ts';
import type { Shape } from '../shape.ts';
import { badRequest, unfitPatch, unsupportedMediaType } from '../status.ts';
import { writeScale } from '../subresources.ts';
import type { WriteRequest } from '../writeRequest.ts';
import { goText } from './goText.ts';
import { applyJsonPatch, PatchFailed } from './jsonPatch.ts';
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
  target: Target,
  request: PatchRequest,
): { readonly object: ApiObject; readonly created: boolean } {
  const { type, body } = request;
  const { custom, shape } = target.resource;
  if (type === 'strategic' && custom) throw unsupportedMediaType(CUSTOM_TYPES);
  if (request.subresource === 'scale') {
    const scaleShape = shapeNamed(SCALE_TYPE);
    const object = writeScale(objects, target, request, (scale) => patched(scaleShape, scale, request));
    return { object, created: false };
  }
  if (type === 'apply') {
    if (!isFields(body)) throw badRequest('an applied configuration is an object');
    return objects.apply(target, body, request.force, request);
  }
  const patchText = (changed: Fields): string => (type === 'strategic' ? goText(body) : JSON.stringify(changed));
  const write = { ...request, patchText, patchKind: type };
  return { object: objects.update(target, write, (live) => patched(shape, live, request)), created: false };
}

function patched(shape: Shape, live: ApiObject, request: PatchRequest): Fields {
  const result = applyPatch(shape, live, request);
  if (!isFields(result)) throw unfitPatch();
  return result;
}

function applyPatch(shape: Shape, live: ApiObject, { type, body }: PatchRequest): unknown {
  if (type === 'json') {
    try {
      return applyJsonPatch(live, body);
    } catch (error) {
      if (error instanceof PatchFailed) throw unfitPatch();
      throw error;
    }
  }
  if (!isFields(body)) {
    throw badRequest(`json: cannot unmarshal ${jsonType(body)} into Go value of type map[string]interface {}`);
  }
  return type === 'strategic' ? applyStrategicMerge(shape, live, body) : applyMergePatch(live, body);
}

/** RFC 7386: null removes a member. Returns a new document that shares unchanged parts. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else if (value !== undefined) result[name] = applyMergePatch(result[name], value);
  }
  return result;
}
