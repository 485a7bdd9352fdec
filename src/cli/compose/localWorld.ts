/** The composition root of `nodewright up`. */
import type { RunLocalWorld } from './contract.ts';

export const runLocalWorld: RunLocalWorld = () =>
  Promise.reject(new Error('this build has no local world yet: its parts are not wired together'));
