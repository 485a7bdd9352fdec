/** Schema of `spec.localDNS` of an AKSNodeClass: a DNS cache on every node. */
import { integer, list, object, oneOf, required, string } from '../schema/builder.ts';
import type { ValidationRule } from '../schema/structuralSchema.ts';
import { DURATION_PATTERN } from './nodeTemplate.ts';

const LABEL = '[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?';

const override = object(
  {
    cacheDuration: required(string({ description: 'How long answers are cached.', pattern: DURATION_PATTERN })),
    forwardDestination: required(
      oneOf(['ClusterCoreDNS', 'VnetDNS'], {
        description: "Where queries go: the cluster's CoreDNS, or the DNS servers of the virtual network.",
      }),
    ),
    forwardPolicy: required(
      oneOf(['Sequential', 'RoundRobin', 'Random'], { description: 'In which order several servers are asked.' }),
    ),
    maxConcurrent: required(
      integer({ description: 'The most queries that may be under way at once.', format: 'int32', minimum: 0 }),
    ),
    protocol: required(
      oneOf(['PreferUDP', 'ForceTCP'], { description: 'How servers are asked: over UDP where possible, or over TCP.' }),
    ),
    queryLogging: required(oneOf(['Error', 'Log'], { description: 'What is logged: errors, or every query.' })),
    serveStale: required(
      oneOf(['Verify', 'Immediate', 'Disable'], {
        description: 'Whether an expired answer is given: after a failed query, at once, or never.',
      }),
    ),
    serveStaleDuration: required(
      string({ description: 'How long an expired answer may be given.', pattern: DURATION_PATTERN }),
    ),
    zone: required(
      string({
        description: 'The DNS zone that these settings are for; `.` stands for everything else.',
        minLength: 1,
        maxLength: 254,
        pattern: `^(\\.|${LABEL}(\\.${LABEL})*\\.?)$`,
      }),
    ),
  },
  {
    description: 'How queries for one zone are answered.',
    rules: [
      {
        rule: `!(self.zone.endsWith('cluster.local') && self.forwardDestination == 'VnetDNS')`,
        message: `zone 'cluster.local' cannot be forwarded to VnetDNS, which does not know it`,
      },
      {
        rule: `!(self.serveStale == 'Verify' && self.protocol == 'ForceTCP')`,
        message: 'serveStale Verify cannot be combined with protocol ForceTCP',
      },
    ],
  },
);

function overrides(description: string, rules: readonly ValidationRule[] = []) {
  return list(override, {
    description: `${description} The zones \`.\` and \`cluster.local\` must be among them.`,
    maxItems: 100,
    listType: { mapKeys: ['zone'] },
    rules: [
      {
        rule: `['.', 'cluster.local'].all(z, self.exists(x, x.zone == z))`,
        message: `the zones '.' and 'cluster.local' must both be listed`,
      },
      ...rules,
    ],
  });
}

export const localDns = object(
  {
    kubeDNSOverrides: required(overrides('Zones for pods that use the cluster DNS (dnsPolicy ClusterFirst).')),
    mode: required(
      oneOf(['Preferred', 'Required', 'Disabled'], {
        description:
          'Required: always on, nodes without support for it fail. Preferred: on where the cluster is ready for it. ' +
          'Disabled: off.',
      }),
    ),
    vnetDNSOverrides: required(
      overrides("Zones for pods that use the node's DNS (dnsPolicy Default).", [
        {
          rule: `!self.exists(x, x.zone == '.' && x.forwardDestination == 'ClusterCoreDNS')`,
          message: `root zone '.' of vnetDNSOverrides cannot be forwarded to ClusterCoreDNS`,
        },
        {
          rule: `!self.exists(x, x.zone != '.' && !x.zone.endsWith('cluster.local') && x.forwardDestination == 'ClusterCoreDNS')`,
          message: `of vnetDNSOverrides only zones under 'cluster.local' can be forwarded to ClusterCoreDNS`,
        },
      ]),
    ),
  },
  { description: 'A DNS cache on every node, which makes name resolution faster and more robust.' },
);
