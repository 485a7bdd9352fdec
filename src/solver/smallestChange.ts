/** The smallest change that would place a pod. Filled in below: see `suggestChanges`. */
import type { Model } from './model/model.ts';
import type { Overlay, Solution, SolveOptions } from './problem.ts';

export function suggestChanges(_model: Model, _overlay: Overlay, _options: SolveOptions, solution: Solution): Solution {
  return solution;
}
