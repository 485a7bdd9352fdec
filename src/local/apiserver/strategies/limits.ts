/** Rules for limit ranges and quotas. */
import { Quantity } from '../../../units/quantity.ts';
import { ensureFields, fieldsAt, isFields, listAt, setDefaults } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { invalidValue, type FieldError } from '../status.ts';

export const limitRangeStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    for (const limit of listAt(draft, 'spec', 'limits')) {
      if (!isFields(limit) || limit['type'] !== 'Container') continue;
      // A maximum is also what a container gets that says nothing; that, in turn, is also what it asks for.
      const fill = (target: string, source: string): void => {
        const from = fieldsAt(limit, source);
        if (from !== undefined) setDefaults(ensureFields(limit, target), from);
      };
      fill('default', 'max');
      fill('defaultRequest', 'default');
      fill('defaultRequest', 'min');
    }
  },
  validate: (draft) => listAt(draft, 'spec', 'limits').flatMap((limit, index) => checkLimit(limit, index)),
};

function checkLimit(limit: unknown, index: number): FieldError[] {
  const errors: FieldError[] = [];
  const amount = (which: string, name: string): Quantity | undefined => {
    const value = fieldsAt(limit, which)?.[name];
    return value === undefined ? undefined : Quantity.tryParse(value as string);
  };
  const names = new Set(
    ['min', 'max', 'default', 'defaultRequest'].flatMap((one) => Object.keys(fieldsAt(limit, one) ?? {})),
  );
  for (const name of names) {
    const least = amount('min', name);
    const most = amount('max', name);
    const usual = amount('default', name);
    const usualRequest = amount('defaultRequest', name);
    const complain = (
      which: string,
      shown: Quantity,
      low: string,
      lower: Quantity,
      high: string,
      upper: Quantity,
    ): void => {
      const why = `${low} value ${lower.toString()} is greater than ${high} value ${upper.toString()}`;
      errors.push(invalidValue(`spec.limits[${index}].${which}[${name}]`, shown.toString(), why));
    };
    if (least && most && least.compare(most) > 0) complain('min', least, 'min', least, 'max', most);
    if (usualRequest && least && least.compare(usualRequest) > 0) {
      complain('defaultRequest', usualRequest, 'min', least, 'default request', usualRequest);
    }
    if (usualRequest && most && usualRequest.compare(most) > 0) {
      complain('defaultRequest', usualRequest, 'default request', usualRequest, 'max', most);
    }
    if (usualRequest && usual && usualRequest.compare(usual) > 0) {
      complain('defaultRequest', usualRequest, 'default request', usualRequest, 'default', usual);
    }
    // Upstream shows the minimum here.
    if (usual && least && least.compare(usual) > 0) complain('default', least, 'min', least, 'default', usual);
    if (usual && most && usual.compare(most) > 0) complain('default', most, 'default', usual, 'max', most);
  }
  return errors;
}

export const quotaStrategy: Strategy = {
  tracksGeneration: false,
  validate(draft) {
    return Object.entries(fieldsAt(draft, 'spec', 'hard') ?? {}).flatMap(([name, amount]) =>
      String(amount).startsWith('-')
        ? [invalidValue(`spec.hard[${name}]`, amount, 'must be greater than or equal to 0')]
        : [],
    );
  },
};
