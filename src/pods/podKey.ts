import type { Pod } from '../api/kinds.ts';

/** Names a pod in maps and lists. A manifest that gives no namespace means the default one. */
export const podKey = ({ metadata }: Pod): string => `${metadata.namespace ?? 'default'}/${metadata.name}`;
