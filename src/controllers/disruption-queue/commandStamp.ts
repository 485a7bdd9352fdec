/**
 * Annotation of a replacement's NodeClaim that describes its command. A restarted process resumes commands from these
 * claims: nothing else is left of them.
 */
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations } from '../../api/labels.ts';

export interface CommandStamp {
  readonly id: string;
  readonly consolidationType: string;
  /** Total number of the command's replacements. */
  readonly replacements: number;
  /** Names of the claims to be removed. */
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

/** Undefined for a claim that is no replacement. */
export function stampOf({ metadata }: NodeClaim): CommandStamp | undefined {
  const [id, count, consolidationType = ''] = metadata.annotations?.[Annotations.disruptionCommand]?.split('/') ?? [];
  const candidates = metadata.annotations?.[Annotations.replaces]?.split(',') ?? [];
  const replacements = Number(count);
  if (!id || candidates.length === 0 || !Number.isInteger(replacements) || replacements < 1) return undefined;
  return { id, replacements, consolidationType, candidates };
}
