/** The kinds of faults with their parameters, and a parser for `kind key=value …`. */
import { Duration } from '../../units/duration.ts';

type ParameterKind = 'text' | 'number' | 'share' | 'duration';

interface FaultKindEntry {
  readonly summary: string;
  readonly parameters: Readonly<Record<string, ParameterKind>>;
}

/** Parameters of all faults: the share of occasions on which it strikes, how often, and how long it lasts. */
const COMMON: Readonly<Record<string, ParameterKind>> = { share: 'share', count: 'number', for: 'duration' };

export const FAULT_KINDS = {
  'family-quota': {
    summary: 'instances of a family are refused for lack of quota',
    parameters: { family: 'text', limit: 'number' },
  },
  'regional-quota': {
    summary: 'instances are refused because the region has no vCPUs left',
    parameters: { limit: 'number' },
  },
  'spot-quota': { summary: 'spot instances are refused for lack of quota', parameters: { limit: 'number' } },
  'sku-restriction': {
    summary: 'a VM size is restricted for the subscription',
    parameters: { size: 'text', zone: 'text' },
  },
  'zonal-allocation': {
    summary: 'a zone has no capacity left',
    parameters: { zone: 'text', size: 'text', priority: 'text' },
  },
  allocation: { summary: 'the region has no capacity left', parameters: { size: 'text', priority: 'text' } },
  'spot-eviction': { summary: 'Azure evicts spot instances', parameters: { name: 'text', notice: 'duration' } },
  throttle: { summary: 'Azure answers 429', parameters: { operation: 'text', after: 'duration' } },
  'lro-fail': { summary: 'an operation is accepted and fails at its end', parameters: { operation: 'text' } },
  'lro-late': { summary: 'an operation succeeds, but late', parameters: { operation: 'text', by: 'duration' } },
  'nic-reserved': {
    summary: 'the network interface of a failed instance cannot be deleted for a while',
    parameters: { hold: 'duration' },
  },
  'never-join': { summary: 'instances boot but never join', parameters: { size: 'text', zone: 'text' } },
  'silent-kubelet': { summary: 'kubelets cannot reach the API server', parameters: { node: 'text' } },
  'watch-drop': {
    summary: 'watches break off: those of nodewright, or of client=kubectl, or client=all',
    parameters: { kind: 'text', client: 'text' },
  },
  'watch-gone': { summary: 'watches end with 410 Gone', parameters: { kind: 'text', client: 'text' } },
  conflict: { summary: 'writes fail with a conflict', parameters: { kind: 'text', client: 'text' } },
  'slow-api': {
    summary: 'the API server answers late',
    parameters: { by: 'duration', kind: 'text', client: 'text' },
  },
  'clock-skew': { summary: "nodewright's clock is wrong", parameters: { by: 'duration' } },
  'process-death': { summary: 'the process of nodewright dies and starts again', parameters: {} },
} as const satisfies Readonly<Record<string, FaultKindEntry>>;

export type FaultKind = keyof typeof FAULT_KINDS;

/** A requested fault; durations are in milliseconds. */
export interface FaultOrder {
  readonly kind: FaultKind;
  readonly texts: Readonly<Record<string, string>>;
  readonly numbers: Readonly<Record<string, number>>;
}

export class FaultSyntaxError extends Error {
  override readonly name = 'FaultSyntaxError';
}

export function faultOrder(kind: FaultKind, parameters: Readonly<Record<string, string | number>> = {}): FaultOrder {
  const texts: Record<string, string> = {};
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'number') numbers[name] = value;
    else texts[name] = value;
  }
  return { kind, texts, numbers };
}

const isFaultKind = (word: string): word is FaultKind => Object.hasOwn(FAULT_KINDS, word);

/** Parses a fault such as `zonal-allocation zone=1 share=0.5 for=10m`; throws a FaultSyntaxError. */
export function parseFault(text: string): FaultOrder {
  const [kind = '', ...words] = text.trim().split(/[\s,]+/);
  if (!isFaultKind(kind)) {
    throw new FaultSyntaxError(`there is no fault "${kind}"; the faults are ${Object.keys(FAULT_KINDS).join(', ')}`);
  }
  const known: Readonly<Record<string, ParameterKind>> = { ...COMMON, ...FAULT_KINDS[kind].parameters };
  const parameters: Record<string, string | number> = {};
  for (const word of words.filter((each) => each !== '')) {
    const at = word.indexOf('=');
    const [name, value] = at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    if (parameter === undefined || value === '') {
      throw new FaultSyntaxError(
        `${kind} does not understand "${word}"; it understands ${Object.keys(known)
          .map((each) => `${each}=…`)
          .join(' ')}`,
      );
    }
    parameters[name] = read(parameter, value, `${kind} ${name}`);
  }
  return faultOrder(kind, parameters);
}

function read(parameter: ParameterKind, value: string, what: string): string | number {
  if (parameter === 'text') return value;
  if (parameter === 'duration') {
    const sign = value.startsWith('-') ? -1 : 1;
    const duration = Duration.tryParse(sign < 0 ? value.slice(1) : value);
    if (duration === undefined) throw new FaultSyntaxError(`${what}: "${value}" is not a duration such as 30s or 10m`);
    return sign * duration.milliseconds;
  }
  const number = Number(value);
  if (Number.isNaN(number) || number < 0 || (parameter === 'share' && number > 1)) {
    throw new FaultSyntaxError(
      `${what}: "${value}" is not ${parameter === 'share' ? 'a share from 0 to 1' : 'a number'}`,
    );
  }
  return number;
}

export function formatFault({ kind, texts, numbers }: FaultOrder): string {
  const known: Readonly<Record<string, ParameterKind>> = { ...COMMON, ...FAULT_KINDS[kind].parameters };
  const words = Object.entries({ ...texts, ...numbers }).map(([name, value]) => {
    const isDuration = typeof value === 'number' && known[name] === 'duration';
    return `${name}=${isDuration ? Duration.fromMilliseconds(value).toString() : value}`;
  });
  return [kind, ...words].join(' ');
}
