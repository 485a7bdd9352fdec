/** Kinds without rules of their own. */
import type { Strategy } from '../resource.ts';

export const plainStrategy: Strategy = { tracksGeneration: false };

export const generationStrategy: Strategy = { tracksGeneration: true };
