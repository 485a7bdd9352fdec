/** The composition root of `nodewright run`. */
import type { RunController } from './contract.ts';

export const runController: RunController = () =>
  Promise.reject(new Error('this build cannot run against a cluster yet: the controllers are not wired together'));
