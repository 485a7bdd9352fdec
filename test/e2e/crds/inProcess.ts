/** Our own validation in place of an API server. */
import type { CustomResourceDefinition } from '../../../src/api/kinds.ts';
import { applyDefaults, prune } from '../../../src/api/schema/defaulting.ts';
import type { FieldError } from '../../../src/api/schema/fieldError.ts';
import { decodeJson, isJsonObject, settleNumbers } from '../../../src/api/schema/json.ts';
import type { JsonObject } from '../../../src/api/schema/json.ts';
import { validateScale } from '../../../src/api/schema/scaleValidation.ts';
import type { StructuralSchema } from '../../../src/api/schema/structuralSchema.ts';
import { validate } from '../../../src/api/schema/validate.ts';

export interface Judgement {
  readonly errors: readonly FieldError[];
  readonly object: JsonObject;
}

/** `old` makes it an update, `part` says which half of the object the endpoint takes. */
export function judge(
  crd: CustomResourceDefinition,
  versionName: string,
  text: string,
  part: 'spec' | 'status',
  old?: JsonObject,
): Judgement {
  const version = crd.spec.versions.find((each) => each.name === versionName);
  const schema = version?.schema?.openAPIV3Schema as StructuralSchema;
  const sent = prune(schema, applyDefaults(schema, decodeJson(text))) as JsonObject;
  const object =
    part === 'status' ? withField(old ?? {}, 'status', sent['status']) : withField(sent, 'status', old?.['status']);
  const scale = version?.subresources?.scale;
  const errors = [...validate(schema, object, old), ...(scale === undefined ? [] : validateScale(scale, object))];
  // Reading an object back applies the defaults again, to what the endpoint removed.
  return { errors, object: settleNumbers(applyDefaults(schema, object)) as JsonObject };
}

function withField(object: JsonObject, name: string, value: unknown): JsonObject {
  const { [name]: _dropped, ...rest } = object;
  return value === undefined ? rest : { ...rest, [name]: value };
}

/** What users write and read, without what the server adds on its own. */
export function essence(object: unknown): unknown {
  if (!isJsonObject(object)) return object;
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = object;
  return rest;
}
