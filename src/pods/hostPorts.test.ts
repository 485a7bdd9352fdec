import { describe, expect, it } from 'vitest';
import { hostPortsClash, hostPortsOf, HostPortUsage, type HostPort } from './hostPorts.ts';

const port = (ip: string, number = 80, protocol = 'TCP'): HostPort => ({ ip, port: number, protocol });

describe('host ports', () => {
  it('come from containers that keep running', () => {
    const ports = hostPortsOf({
      spec: {
        initContainers: [
          { name: 'setup', ports: [{ containerPort: 1, hostPort: 1 }] },
          { name: 'mesh', restartPolicy: 'Always', ports: [{ containerPort: 2, hostPort: 2, protocol: 'UDP' }] },
        ],
        containers: [
          { name: 'web', ports: [{ containerPort: 80, hostPort: 8080, hostIP: '10.0.0.1' }, { containerPort: 81 }] },
          { name: 'none' },
        ],
      },
    });
    expect(ports).toEqual([port('0.0.0.0', 2, 'UDP'), port('10.0.0.1', 8080)]);
    expect(hostPortsOf({})).toEqual([]);
  });

  it.each([
    [port('10.0.0.1'), port('10.0.0.1'), true],
    [port('10.0.0.1'), port('10.0.0.2'), false],
    [port('10.0.0.1'), port('0.0.0.0'), true],
    [port('::'), port('10.0.0.1'), true],
    [port('0:0:0:0:0:0:0:0'), port('fe80::1'), true],
    [port('0.0.0.0'), port('0.0.0.0', 81), false],
    [port('0.0.0.0'), port('0.0.0.0', 80, 'UDP'), false],
    [port('::1'), port('::2'), false],
  ])('%j and %j clash: %s', (left, right, expected) => {
    expect(hostPortsClash(left, right)).toBe(expected);
    expect(hostPortsClash(right, left)).toBe(expected);
  });

  it('are held by one pod at a time', () => {
    const web = [port('10.0.0.1')];
    const usage = HostPortUsage.empty.with('default/web', web);
    expect(usage.conflict('default/other', [port('0.0.0.0')])).toEqual({
      wanted: port('0.0.0.0'),
      taken: port('10.0.0.1'),
      owner: 'default/web',
    });
    expect(usage.conflict('default/web', web)).toBeUndefined();
    expect(usage.conflict('default/other', [])).toBeUndefined();
    expect(usage.without('default/web').conflict('default/other', web)).toBeUndefined();
    expect(usage.with('default/web', []).conflict('default/other', web)).toBeUndefined();
    expect(HostPortUsage.empty.conflict('default/other', web)).toBeUndefined();
    expect(usage.without('nobody')).toBe(usage);
  });
});
