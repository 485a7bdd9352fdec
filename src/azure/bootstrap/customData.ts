/** The script that a VM runs at its first boot, in Base64, for the provisioning code on AKS images. Deterministic. */
import type { BootstrapInput } from './bootstrapInput.ts';
import { scriptVariables } from './scriptVariables.ts';

export function renderCustomData(input: BootstrapInput): string {
  return Buffer.from(renderScript(input)).toString('base64');
}

function renderScript(input: BootstrapInput): string {
  const variables = Object.entries(scriptVariables(input)).map(([name, value]) => `${name}=${quote(value)}`);
  return [
    '#!/bin/bash',
    'set -o allexport',
    // The image's own scripts end with this mark when they are completely written.
    'echo EOF >> /opt/azure/manifest.json',
    'mkdir -p /var/log/azure/Microsoft.Azure.Extensions.CustomScript/events',
    'for i in $(seq 1 1200); do grep -Fq EOF /opt/azure/containers/provision.sh && break; sleep 1; done',
    ...variables,
    '/usr/bin/nohup /bin/bash -c "/bin/bash /opt/azure/containers/provision_start.sh"',
    '',
  ].join('\n');
}

/** Single quotes disable all shell expansion. */
function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
