import type { Pod } from '../api/kinds.ts';

/** Identifies a pod in maps and lists. A manifest without a namespace means the default one. */
export const podKey = ({ metadata }: Pod): string => `${metadata.namespace ?? 'default'}/${metadata.name}`;

export const DEFAULT_SCHEDULER = 'default-scheduler';
