import { describe, expect, it } from 'vitest';
import { upgradeTarget, type UpgradeChannel } from './upgradeChannel.ts';

const VERSIONS = ['1.33.3', '1.33.5', '1.34.1', '1.34.4', '1.35.1', '1.35.3', '1.36.1', '1.36.3'];

describe('auto-upgrade channels', () => {
  it.each<readonly [UpgradeChannel, string, string | undefined]>([
    ['patch', '1.34.1', '1.34.4'],
    ['patch', '1.34.4', undefined],
    ['stable', '1.33.3', '1.34.4'],
    ['stable', '1.35.1', '1.35.3'],
    ['stable', '1.35.3', undefined],
    ['stable', '1.36.1', '1.36.3'],
    ['rapid', '1.35.3', '1.36.3'],
    ['rapid', '1.33.5', '1.34.4'],
    ['rapid', '1.36.3', undefined],
    ['node-image', '1.33.3', undefined],
    ['none', '1.33.3', undefined],
  ])('%s takes %s to %s', (channel, current, expected) => {
    expect(upgradeTarget(current, channel, VERSIONS)).toBe(expected);
  });
});
