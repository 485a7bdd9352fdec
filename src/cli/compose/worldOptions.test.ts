import { describe, expect, it } from 'vitest';
import { worldOptions } from './worldOptions.ts';

describe('worldOptions', () => {
  it('reads options as `run` does, with node repair on', () => {
    const options = worldOptions([
      '--batch-idle-duration',
      '3s',
      '--feature-gates=NodeOverlay=true',
      '--enable-profiling',
    ]);
    expect(options.batchIdleDuration.milliseconds).toBe(3000);
    expect(options.featureGates).toMatchObject({ nodeRepair: true, nodeOverlay: true, staticCapacity: false });
    expect(options.enableProfiling).toBe(true);
    expect(worldOptions([]).featureGates.nodeRepair).toBe(true);
    expect(worldOptions(['--feature-gates=NodeRepair=false']).featureGates.nodeRepair).toBe(false);
  });

  it.each([
    [['--cluster-name=x'], '--cluster-name: the local world decides this itself'],
    [['--dashboard-port=8082'], '--dashboard-port: the local world decides this itself'],
    [['--otlp-traces-endpoint=http://127.0.0.1:4318'], '--otlp-traces-endpoint: the local world decides this itself'],
    [['--nonsense'], "unknown option '--nonsense'"],
    [['--batch-idle-duration=x'], '--batch-idle-duration'],
    [['word'], 'too many arguments'],
  ])('refuses %j', (args, message) => {
    expect(() => worldOptions(args)).toThrow(message);
  });
});
