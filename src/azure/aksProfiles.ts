/** Parts of a node class in the format of the AKS API, for AKS machines and for the bootstrapping server. */
import type { AksNodeClass, AksNodeClassSpec } from '../api/kinds/aksNodeClass.ts';
import { Duration } from '../units/duration.ts';
import { mebibytes } from './bootstrap/linuxSettings.ts';

type Json = Readonly<Record<string, unknown>>;
type Sysctls = NonNullable<NonNullable<AksNodeClassSpec['linuxOSConfig']>['sysctls']>;
type DnsOverride = NonNullable<AksNodeClassSpec['localDNS']>['vnetDNSOverrides'][number];

const MAX_INT32 = 2 ** 31 - 1;
/** Fields that AKS spells differently. */
const SYSCTL_NAMES: Readonly<Partial<Record<keyof Sysctls, string>>> = {
  netIPv4TCPKeepaliveIntvl: 'netIpv4TcpkeepaliveIntvl',
};

/** Drops undefined members. */
function given(json: Json): Json {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined));
}

export function kubeletConfigOf(spec: AksNodeClassSpec | undefined): Json | undefined {
  const kubelet = spec?.kubelet;
  if (kubelet === undefined) return undefined;
  const { containerLogMaxSize: logSize, podPidsLimit: pids, allowedUnsafeSysctls: sysctls } = kubelet;
  const period = kubelet.cpuCFSQuotaPeriod === undefined ? Duration.zero : Duration.parse(kubelet.cpuCFSQuotaPeriod);
  return given({
    cpuManagerPolicy: kubelet.cpuManagerPolicy,
    cpuCfsQuota: kubelet.cpuCFSQuota,
    cpuCfsQuotaPeriod: period.equals(Duration.zero) ? undefined : period.toString(),
    imageGcHighThreshold: kubelet.imageGCHighThresholdPercent,
    imageGcLowThreshold: kubelet.imageGCLowThresholdPercent,
    topologyManagerPolicy: kubelet.topologyManagerPolicy,
    allowedUnsafeSysctls: sysctls === undefined || sysctls.length === 0 ? undefined : sysctls,
    failSwapOn: kubelet.failSwapOn,
    containerLogMaxSizeMB: logSize === undefined ? undefined : mebibytes(logSize),
    containerLogMaxFiles: kubelet.containerLogMaxFiles,
    podMaxPids: pids === undefined ? undefined : Math.max(-1, Math.min(pids, MAX_INT32)),
  });
}

export function linuxConfigOf(spec: AksNodeClassSpec | undefined): Json | undefined {
  const config = spec?.linuxOSConfig;
  if (config === undefined) return undefined;
  const { swapFileSize, sysctls } = config;
  return given({
    swapFileSizeMB: swapFileSize === undefined ? undefined : mebibytes(swapFileSize),
    transparentHugePageEnabled: config.transparentHugePageEnabled,
    transparentHugePageDefrag: config.transparentHugePageDefrag,
    sysctls:
      sysctls === undefined
        ? undefined
        : given(Object.fromEntries(Object.entries(sysctls).map(([name, value]) => [sysctlName(name), value]))),
  });
}

/** For example `netIPv4TCPFinTimeout` becomes `netIpv4TcpFinTimeout`. */
function sysctlName(field: string): string {
  const special = SYSCTL_NAMES[field as keyof Sysctls];
  return special ?? field.replace('IPv4', 'Ipv4').replace('TCP', 'Tcp').replace('v4IP', 'v4Ip');
}

/** `Preferred` is never sent: the status has the resolved mode. */
export function localDnsProfileOf({ spec, status }: AksNodeClass): Json | undefined {
  const local = spec?.localDNS;
  if (local === undefined) return undefined;
  const resolved = status?.localDNSState === 'Enabled' ? 'Required' : 'Disabled';
  return {
    mode: local.mode === 'Preferred' ? resolved : local.mode,
    vnetDNSOverrides: overridesOf(local.vnetDNSOverrides),
    kubeDNSOverrides: overridesOf(local.kubeDNSOverrides),
  };
}

function overridesOf(overrides: readonly DnsOverride[]): Json {
  return Object.fromEntries(
    overrides.map(({ zone, cacheDuration, serveStaleDuration, ...rest }) => [
      zone,
      {
        ...rest,
        cacheDurationInSeconds: seconds(cacheDuration),
        serveStaleDurationInSeconds: seconds(serveStaleDuration),
      },
    ]),
  );
}

function seconds(duration: string): number {
  return Math.trunc(Duration.parse(duration).milliseconds / 1000);
}
