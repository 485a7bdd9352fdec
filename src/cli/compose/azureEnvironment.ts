/** Files with which clients of another process reach the local Azure: endpoint, certificate and client secret. */
import { writeFile } from 'node:fs/promises';
import type { LocalArm } from '../../local/arm/localArm.ts';

const OWNER_ONLY = 0o600;

export interface AzureFiles {
  readonly environment: string;
  readonly certificate: string;
}

/** Written anew at every start: the secret and the port last as long as the process. */
export async function writeAzureEnvironment({ environment, certificate }: AzureFiles, arm: LocalArm): Promise<void> {
  const { tenantId, clientId, clientSecret } = arm.credentials;
  const variables: Readonly<Record<string, string>> = {
    // The names that the Azure SDKs' EnvironmentCredential reads.
    AZURE_TENANT_ID: tenantId,
    AZURE_CLIENT_ID: clientId,
    AZURE_CLIENT_SECRET: clientSecret,
    AZURE_AUTHORITY_HOST: arm.endpoint,
    AZURE_SUBSCRIPTION_ID: arm.subscriptionId,
    AZURE_RESOURCE_MANAGER_ENDPOINT: arm.endpoint,
    AZURE_NODE_RESOURCE_GROUP: arm.nodeResourceGroup,
    // The certificate, for Node.js, for Go and OpenSSL, and for Python.
    NODE_EXTRA_CA_CERTS: certificate,
    SSL_CERT_FILE: certificate,
    REQUESTS_CA_BUNDLE: certificate,
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'`);
  await writeFile(certificate, arm.caPem, { mode: OWNER_ONLY });
  await writeFile(environment, `${lines.join('\n')}\n`, { mode: OWNER_ONLY });
}
