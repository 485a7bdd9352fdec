/** The kubeconfig of a running server. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { printYaml } from '../../api/yaml/printYaml.ts';
import type { CertificatePair } from '../certificates.ts';

export interface KubeconfigData {
  readonly url: string;
  readonly caPem: string;
  readonly clientCertificate: CertificatePair;
}

/** The names in a kubeconfig. */
export interface KubeconfigNames {
  readonly cluster: string;
  readonly user: string;
  readonly context: string;
}

const NAMES: KubeconfigNames = { cluster: 'nodewright', user: 'nodewright', context: 'nodewright' };
const OWNER_ONLY = 0o600;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export function renderKubeconfig(data: KubeconfigData, { cluster, user, context }: KubeconfigNames = NAMES): string {
  return printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: { server: data.url, 'certificate-authority-data': base64(data.caPem) } }],
    users: [
      {
        name: user,
        user: {
          'client-certificate-data': base64(data.clientCertificate.certificate),
          'client-key-data': base64(data.clientCertificate.privateKey),
        },
      },
    ],
    contexts: [{ name: context, context: { cluster, user } }],
    'current-context': context,
  });
}

/** Writes the file atomically, so that it can be used as soon as it exists. */
export async function writeKubeconfigFile(path: string, data: KubeconfigData): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, renderKubeconfig(data), { mode: OWNER_ONLY });
  await rename(draft, path);
}
