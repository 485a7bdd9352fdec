import { expect, it } from 'vitest';
import { threadMemory } from './answerThread.ts';

const GIB = 2 ** 30;

it.each([
  ['half of what the container has left', 2 * GIB, 16 * GIB, 1 * GIB, 512],
  ['half of what the host has left, where no limit is known', undefined, 4 * GIB, 1 * GIB, 1536],
  ['the same where the limit is said to be 0', 0, 4 * GIB, 1 * GIB, 1536],
  ['no more than a large cluster needs', 64 * GIB, 128 * GIB, 1 * GIB, 2048],
  ['little where nothing is left, so that the thread ends and not the controller', 1 * GIB, 16 * GIB, 1 * GIB, 64],
])('gives the thread %s', (_what, constrained, total, used, expected) => {
  expect(threadMemory(constrained, total, used)).toBe(expected);
});
