/**
 * What a replacement's NodeClaim says about the command that it is part of. With it, a process that starts anew takes up
 * commands that another one had begun: the claims are all that is left of them.
 */
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations } from '../../api/labels.ts';

export interface CommandStamp {
  readonly id: string;
  readonly consolidationType: string;
  /** How many replacements the command has in all. */
  readonly replacements: number;
  /** Names of the claims that go. */
  readonly candidates: readonly string[];
}

export function stampAnnotations({ id, replacements, consolidationType, candidates }: CommandStamp): {
  readonly [key: string]: string;
} {
  return {
    [Annotations.disruptionCommand]: [id, replacements, consolidationType].join('/'),
    [Annotations.replaces]: candidates.join(','),
  };
}

/** Undefined for a claim that replaces nothing. */
export function stampOf({ metadata }: NodeClaim): CommandStamp | undefined {
  const [id, count, consolidationType = ''] = metadata.annotations?.[Annotations.disruptionCommand]?.split('/') ?? [];
  const candidates = metadata.annotations?.[Annotations.replaces]?.split(',') ?? [];
  const replacements = Number(count);
  if (!id || candidates.length === 0 || !Number.isInteger(replacements) || replacements < 1) return undefined;
  return { id, replacements, consolidationType, candidates };
}
