/** Schema of `spec.kubelet` of an AKSNodeClass. */
import { boolean, defaulted, integer, list, object, oneOf, string } from '../schema/builder.ts';

/** A size with a unit and no sign, as the kubelet and AKS accept it. */
export const SIZE_PATTERN = '^\\d+(E|P|T|G|M|K|Ei|Pi|Ti|Gi|Mi|Ki)$';

const percent = (description: string) => integer({ description, format: 'int32', minimum: 0, maximum: 100 });

export const kubelet = object(
  {
    allowedUnsafeSysctls: list(string(), {
      description: 'Unsafe sysctls, or patterns ending in `*`, that pods on these nodes may set.',
    }),
    containerLogMaxFiles: defaulted(
      integer({ description: 'How many log files are kept per container.', format: 'int32', minimum: 2 }),
      5,
    ),
    containerLogMaxSize: defaulted(
      string({ description: 'How large a container log grows before a new file is begun.', pattern: SIZE_PATTERN }),
      '50Mi',
    ),
    cpuCFSQuota: defaulted(boolean({ description: 'Whether CPU limits of containers are enforced.' }), true),
    cpuCFSQuotaPeriod: defaulted(
      string({ description: 'The period in which CPU limits are reckoned, from 1ms to 1s.' }),
      '100ms',
    ),
    cpuManagerPolicy: defaulted(
      oneOf(['none', 'static'], {
        description: 'static gives containers of Guaranteed pods with whole CPUs those CPUs for themselves.',
      }),
      'none',
    ),
    failSwapOn: boolean({
      description: 'Whether the kubelet refuses to start while swap is on. Must be false to have a swap file.',
    }),
    imageGCHighThresholdPercent: percent('Disk usage at which unused images are removed.'),
    imageGCLowThresholdPercent: percent('Disk usage down to which unused images are removed.'),
    podPidsLimit: integer({ description: 'The most processes a pod may have; -1 for no limit.', format: 'int64' }),
    topologyManagerPolicy: defaulted(
      oneOf(['restricted', 'best-effort', 'none', 'single-numa-node'], {
        description: 'How closely CPUs and devices of a container must lie together.',
      }),
      'none',
    ),
  },
  {
    description: 'Settings of the kubelet on these nodes.',
    rules: [
      {
        rule: '!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent',
        message: 'imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent',
      },
    ],
  },
);
