import { describe, expect, it } from 'vitest';
import { proxyFromEnvironment } from './proxyFromEnvironment.ts';

const PROXY = 'http://proxy:3128';
const direct = (server: string, noProxy: string): boolean =>
  proxyFromEnvironment(server, { HTTPS_PROXY: PROXY, NO_PROXY: noProxy }) === undefined;

describe('proxyFromEnvironment', () => {
  it('takes the variable of the scheme, in either case', () => {
    expect(proxyFromEnvironment('https://api', { HTTPS_PROXY: PROXY })).toBe(PROXY);
    expect(proxyFromEnvironment('https://api', { https_proxy: 'proxy:3128' })).toBe(PROXY);
    expect(proxyFromEnvironment('http://api', { HTTPS_PROXY: PROXY })).toBeUndefined();
    expect(proxyFromEnvironment('http://api', { HTTP_PROXY: PROXY })).toBe(PROXY);
  });

  it('never proxies to this machine', () => {
    for (const host of ['localhost', '127.0.0.1', '127.8.8.8', '[::1]'])
      expect(direct(`https://${host}:6443`, '')).toBe(true);
  });

  it('knows the forms of exceptions', () => {
    const cases: [server: string, noProxy: string, direct: boolean][] = [
      ['https://api.example.com', '*', true],
      ['https://api.example.com', 'example.com', true],
      ['https://example.com', 'example.com', true],
      ['https://example.com', '.example.com', false],
      ['https://api.example.com', ' other, .EXAMPLE.com', true],
      ['https://notexample.com', 'example.com', false],
      ['https://api.example.com:6443', 'api.example.com:443', false],
      ['https://api.example.com', 'api.example.com:443', true],
      ['https://10.0.0.1', '10.0.0.0/8', true],
      ['https://11.0.0.1', '10.0.0.0/8', false],
      ['https://10.0.0.1', '10.0.0.1', true],
      ['https://10.0.0.1:6443', '10.0.0.1:6443', true],
      ['https://[fd00::1]', 'fd00::/8', true],
      ['https://[fd00::1]', 'fd00::1', true],
      ['https://[fd00::1]', '10.0.0.0/8', false],
      ['https://api.example.com', '10.0.0.0/8,,', false],
    ];
    expect(cases.filter(([server, noProxy, expected]) => direct(server, noProxy) !== expected)).toEqual([]);
  });
});
