import { drift } from './drift.ts';
import { emptiness } from './emptiness.ts';
import type { Method } from './method.ts';
import { multiNode } from './multiNode.ts';
import { singleNode } from './singleNode.ts';
import { staticDrift } from './staticDrift.ts';

/** In order: first what costs nothing, then required replacements, then savings. */
export const METHODS: readonly Method[] = [emptiness, staticDrift, drift, multiNode, singleNode];
