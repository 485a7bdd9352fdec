/** Writes kubeconfig files that kubectl and nodewright can read. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printYaml } from '../../src/api/yaml/printYaml.ts';
import type { KeyPair } from './certificates.ts';

interface KubeconfigOptions {
  readonly server: string;
  readonly ca: string;
  readonly user: string;
  readonly pair: KeyPair;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export async function writeKubeconfig(
  directory: string,
  fileName: string,
  options: KubeconfigOptions,
): Promise<string> {
  const path = join(directory, fileName);
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: options.server, 'certificate-authority-data': base64(options.ca) } }],
    users: [
      {
        name: options.user,
        user: {
          'client-certificate-data': base64(options.pair.certificate),
          'client-key-data': base64(options.pair.key),
        },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: options.user } }],
  };
  await writeFile(path, printYaml(document), { mode: 0o600 });
  return path;
}
