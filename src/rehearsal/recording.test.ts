import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { endOf, formatChange, formatEnd, parseRecording, statesAt } from './recording.ts';
import { formatSnapshot } from './snapshotFile.ts';

const TEN = Date.parse('2026-01-05T10:00:00Z');
const MINUTE = 60_000;
const pod = (name: string): KubeObject => ({ metadata: { name, namespace: 'default' } }) as KubeObject;
const of = (name: string) => ({ kind: 'pods.', namespace: 'default', name });

const TEXT = [
  formatSnapshot({ time: TEN, kinds: new Map([['pods.', [pod('first')]]]) }),
  formatChange({ time: TEN + MINUTE, ...of('second'), object: pod('second') }),
  formatChange({ time: TEN + 2 * MINUTE, ...of('first') }),
].join('');

describe('a recording', () => {
  const namesAt = (text: string, time: number): readonly string[] => {
    const recording = parseRecording(text);
    if (recording === undefined) throw new Error('not a recording');
    const [state] = statesAt(recording, [time]);
    return (state?.kinds.get('pods.') ?? []).map(({ metadata }) => metadata.name);
  };

  it('has the objects as they were at a time', () => {
    expect(namesAt(TEXT, TEN)).toEqual(['first']);
    expect(namesAt(TEXT, TEN + MINUTE)).toEqual(['first', 'second']);
    expect(namesAt(TEXT, TEN + 3 * MINUTE)).toEqual(['second']);
  });

  it('ends when it was stopped, even when nothing had changed for a while', () => {
    const recording = parseRecording(TEXT + formatEnd(TEN + 120 * MINUTE));
    expect(recording && endOf(recording)).toBe(TEN + 120 * MINUTE);
    expect(recording?.changes).toHaveLength(2);
  });

  it('ends with its last change when it was cut off, and loses only the incomplete line', () => {
    const recording = parseRecording(`${TEXT}{"time":"2026-01-05T1`);
    expect(recording && endOf(recording)).toBe(TEN + 2 * MINUTE);
    expect(recording?.changes).toHaveLength(2);
  });

  it('is invalid when a line in the middle cannot be parsed', () => {
    expect(parseRecording(`${TEXT}{"time\n${formatEnd(TEN)}`)).toBeUndefined();
  });
});
