import { expect, it } from 'vitest';
import { entryOf, errorGroups, type ErrorCode } from './catalogue.ts';
import type { ErrorEntry } from './errorEntry.ts';
import { InvariantError } from './invariantError.ts';
import { manifestMistakes, mistakeText, type MistakeCode, type MistakeData } from './manifestMistakes.ts';
import { isNodewrightError, NodewrightError } from './nodewrightError.ts';
import { describeThrown, messageOf, systemCode, systemProblem, toError, writeProblem } from './thrown.ts';

const entries = Object.values(errorGroups).flatMap(
  (group) => Object.entries(group) as unknown as [ErrorCode, ErrorEntry<unknown>][],
);

it('has each code once', () => {
  const codes = entries.map(([code]) => code);
  expect(new Set(codes).size).toBe(codes.length);
});

it.each(entries)('%s says what happened and what to do', (code, { example }) => {
  const error = new NodewrightError(code, example as never);
  expect(error.message).not.toMatch(/undefined|\[object|\.$/);
  expect(error.remedy).not.toMatch(/undefined|\[object|\.$/);
  expect(error.remedy).not.toBe('');
  expect(describeThrown(error)).toContain(error.remedy);
  expect(JSON.parse(JSON.stringify(error.data))).toEqual(example);
  expect(entryOf(code).about).toMatch(/\.$/);
});

it.each(Object.keys(manifestMistakes) as MistakeCode[])('%s says what is wrong in a manifest', (code) => {
  const { about, example } = manifestMistakes[code];
  const text = mistakeText(code, example, example as MistakeData<typeof code>);
  expect(text).not.toMatch(/undefined|\[object|\.$/);
  expect(text).toContain(example.title === '' || code === 'KindLeftOut' ? '' : example.title);
  expect(about).toMatch(/\.$/);
});

it('carries code, data and cause', () => {
  const cause = new Error('inner');
  const error: unknown = new NodewrightError('InstanceNotFound', { instance: 'vm-1' }, { cause });
  expect(error).toMatchObject({ code: 'InstanceNotFound', data: { instance: 'vm-1' }, cause, exit: 'failure' });
  expect(isNodewrightError(error, 'InstanceNotFound')).toBe(true);
  expect(isNodewrightError(error, 'MissingCrds')).toBe(false);
  expect(isNodewrightError(cause, 'MissingCrds')).toBe(false);
});

it('turns anything that was thrown into an error', () => {
  const error = new Error('a');
  expect(toError(error)).toBe(error);
  expect(toError('text').message).toBe('text');
  expect(messageOf(7)).toBe('7');
  expect(describeThrown(error)).toBe('a');
  expect(describeThrown(new InvariantError('two owners'))).toBe('internal error: two owners; please report it');
});

it('prints nothing at a terminal without a code, or as a defect', () => {
  const error = (message: string, more: object): Error => Object.assign(new Error(message), more);
  const denied = error("EPERM: operation not permitted, mkdir '/sys/x'", {
    code: 'EPERM',
    syscall: 'mkdir',
    path: '/sys/x',
  });
  expect(describeThrown(denied)).toBe(
    '/sys/x: mkdir failed: permission denied; check that this process may do that; LOG_LEVEL=debug shows where it happened [SystemCallFailed]',
  );
  const missing = error("Resource group 'a' could not be found.", { code: 'ResourceGroupNotFound' });
  expect(describeThrown(missing)).toBe("Resource group 'a' could not be found. [ResourceGroupNotFound]");
  const forbidden = error('pods is forbidden', { code: 403, reason: 'Forbidden' });
  expect(describeThrown(forbidden)).toBe('pods is forbidden [Forbidden]');
  const defect = new TypeError("Cannot read properties of undefined (reading 'a')");
  expect(describeThrown(defect)).toBe(`internal error: ${defect.message}; please report it`);
});

it('says problems of the operating system in plain words', () => {
  const missing = Object.assign(new Error('ENOENT: no such file, open x'), { code: 'ENOENT' });
  expect([systemCode(missing), systemProblem(missing)]).toEqual(['ENOENT', 'there is no such file']);
  expect(writeProblem(missing)).toBe('there is no such folder');
  expect([systemCode('x'), systemProblem(new Error('odd'))]).toEqual([undefined, 'odd']);
});

it.each(['SubscriptionQuotaReached', 'SKUNotAvailable', 'ZonalAllocationFailure', 'AllocationFailure'])(
  'says what to do about a launch that failed with %s',
  (reason) => {
    const { remedy } = new NodewrightError('LaunchFailed', { reason, detail: 'refused' });
    expect(remedy).toMatch(/NodePool|allow/);
  },
);
