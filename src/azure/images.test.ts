import { describe, expect, it } from 'vitest';
import type { AksNodeClass, AksNodeClassSpec } from '../api/kinds/aksNodeClass.ts';
import { concreteFamily, type ConcreteFamily } from './images.ts';

function classWith(imageFamily: AksNodeClassSpec['imageFamily'], fips: boolean, trusted: boolean): AksNodeClass {
  return {
    metadata: { name: 'test' },
    spec: {
      imageFamily,
      osDiskSizeGB: 128,
      ...(fips ? { fipsMode: 'FIPS' as const } : {}),
      ...(trusted ? { security: { trustedLaunch: { vtpm: true } } } : {}),
    },
  };
}

describe('which release a class gets', () => {
  it.each<[AksNodeClassSpec['imageFamily'], boolean, boolean, string, ConcreteFamily]>([
    ['Ubuntu2204', false, false, '1.36.0', 'Ubuntu2204'],
    ['Ubuntu2404', false, true, '1.30.0', 'Ubuntu2404'],
    ['AzureLinux', false, false, '1.32.0', 'AzureLinux3'],
    ['AzureLinux', false, false, '1.31.9', 'AzureLinux2'],
    ['AzureLinux', false, false, 'nonsense', 'AzureLinux2'],
    ['Ubuntu', true, false, '1.36.0', 'Ubuntu2004'],
    ['Ubuntu', true, true, '1.36.0', 'Ubuntu2204'],
    ['Ubuntu', false, true, '1.36.0', 'Ubuntu2204'],
    ['Ubuntu', false, false, '1.34.0', 'Ubuntu2404'],
    ['Ubuntu', false, false, 'v2.0.0', 'Ubuntu2404'],
    ['Ubuntu', false, false, '1.33.7', 'Ubuntu2204'],
    ['Ubuntu', false, false, '', 'Ubuntu2204'],
  ])('%s, FIPS %s, Trusted Launch %s, Kubernetes %s: %s', (family, fips, trusted, version, expected) => {
    expect(concreteFamily(classWith(family, fips, trusted), version)).toBe(expected);
  });

  it('is Ubuntu for a class without a spec', () => {
    expect(concreteFamily({ metadata: { name: 'bare' } }, '1.36.0')).toBe('Ubuntu2404');
  });
});
