/**
 * Parses VM size names such as `Standard_NC24ads_A100_v4` into the parts used for the labels of family, series and
 * version.
 */
export interface SizeName {
  /** `D`, `N`: the first letter only. */
  readonly family: string;
  /** `C` of `NC`; empty for most. */
  readonly subfamily: string;
  readonly cpus: number;
  /** Active vCPUs of a constrained size such as `M8-2ms`. */
  readonly constrainedCpus: number | undefined;
  /** `pls` of `D4pls_v6`. */
  readonly features: string;
  /** `A100`, `T4`. */
  readonly accelerator: string | undefined;
  /** Without the `v`; a missing version counts as `1`. Undefined when the last part is not a version. */
  readonly version: string | undefined;
  /** `Dpls_v6`: family, subfamily, features and version; `Bms` for a name without a version. */
  readonly series: string;
}

const NAME = /^([A-Z])([A-Z]*)(\d+)(?:-(\d+))?([a-z]*)((?:_+[A-Za-z0-9.]+)*)$/;

/** `undefined` for names that do not follow the grammar. */
export function parseSizeName(name: string): SizeName | undefined {
  const match = NAME.exec(name.replace(/^(Standard|Basic)_/i, ''));
  if (match === null) return undefined;
  const [, family = '', subfamily = '', cpus = '', constrained, features = '', rest = ''] = match;
  const parts = rest.split('_').filter((part) => part !== '' && part.toLowerCase() !== 'promo');
  const last = parts.at(-1);
  const isVersion = last !== undefined && /^v\d/i.test(last);
  const accelerator = (isVersion ? parts.slice(0, -1) : parts).find((part) => /\d/.test(part));
  const version = isVersion ? last.slice(1) : last === undefined ? '1' : undefined;
  return {
    family,
    subfamily,
    cpus: Number(cpus),
    constrainedCpus: constrained === undefined ? undefined : Number(constrained),
    features,
    accelerator,
    version,
    series: `${family}${subfamily}${features}${isVersion ? `_${last}` : ''}`,
  };
}
