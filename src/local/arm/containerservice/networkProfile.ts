/** The network profile of a managed cluster: AKS's defaults, and the combinations that it refuses. */
import { asText, listAt, textAt, type JsonObject } from '../jsonPath.ts';
import { aksRefusal, invalidParameter, notOneOf } from './aksRefusal.ts';

const DEFAULTS: JsonObject = {
  networkPlugin: 'azure',
  serviceCidr: '10.0.0.0/16',
  dnsServiceIP: '10.0.0.10',
  outboundType: 'loadBalancer',
  loadBalancerSku: 'standard',
  ipFamilies: ['IPv4'],
};
/** Defaults without a network plugin: overlay as in AKS, here with Cilium, as AKS's documentation recommends. */
const PLAIN_NETWORK: JsonObject = { networkPluginMode: 'overlay', networkDataplane: 'cilium', networkPolicy: 'cilium' };
/** AKS's default ranges of addresses by IP family. */
const POD_CIDRS: Readonly<Record<string, string>> = { IPv4: '10.244.0.0/16', IPv6: 'fd12:3456:789a::/64' };
const SERVICE_CIDRS: Readonly<Record<string, string>> = { IPv4: '10.0.0.0/16', IPv6: 'fd12:3456:789a:1::/108' };

const VALUES: Readonly<Record<string, readonly string[]>> = {
  networkPlugin: ['azure', 'kubenet', 'none'],
  networkPluginMode: ['overlay'],
  networkPolicy: ['azure', 'calico', 'cilium', 'none'],
  networkDataplane: ['azure', 'cilium'],
  loadBalancerSku: ['standard', 'basic'],
  outboundType: [
    'loadBalancer',
    'userDefinedRouting',
    'managedNATGateway',
    'userAssignedNATGateway',
    'none',
    'block',
    'managedNATGatewayV2',
  ],
};
const FAMILIES: readonly string[] = ['IPv4', 'IPv6'];

/** Returns the profile to store. `merged` is the request merged into the stored profile, `sent` the request alone. */
export function networkProfile(merged: JsonObject, sent: JsonObject): JsonObject {
  const wanted = spelled(merged);
  const profile: JsonObject = {
    ...DEFAULTS,
    ...(wanted['networkPlugin'] === undefined ? PLAIN_NETWORK : {}),
    ...wanted,
  };
  const plugin = textAt(profile, 'networkPlugin') ?? '';
  const dataplane = textAt(profile, 'networkDataplane') ?? 'azure';
  checkPluginMode(plugin, textAt(profile, 'networkPluginMode'));
  const policy = textAt(profile, 'networkPolicy') ?? (dataplane === 'cilium' ? 'cilium' : undefined);
  checkDataplane({ plugin, dataplane, policy });
  return {
    ...profile,
    networkDataplane: dataplane,
    ...(policy !== undefined && { networkPolicy: policy }),
    ...cidrs(profile, sent, hasPodNetwork(profile)),
  };
}

/** Returns the default of the maximum number of pods per node. */
export function defaultMaxPods(profile: JsonObject): number {
  if (textAt(profile, 'networkPlugin') === 'kubenet') return 110;
  return textAt(profile, 'networkPlugin') === 'azure' && textAt(profile, 'networkPluginMode') !== 'overlay' ? 30 : 250;
}

function hasPodNetwork(profile: JsonObject): boolean {
  return textAt(profile, 'networkPluginMode') === 'overlay' || textAt(profile, 'networkPlugin') === 'kubenet';
}

/** Returns the values in AKS's spelling; clients may send other capitals. */
function spelled(given: JsonObject): JsonObject {
  const corrected = Object.entries(VALUES).flatMap(([member, allowed]): [string, string][] => {
    const value = given[member];
    if (value === undefined || value === null || value === '') return [];
    const found = allowed.find((each) => each.toLowerCase() === asText(value).toLowerCase());
    if (found !== undefined) return [[member, found]];
    throw notOneOf(`networkProfile.${member}`, value, allowed);
  });
  for (const family of listAt(given, 'ipFamilies')) {
    if (!FAMILIES.includes(String(family))) throw notOneOf('networkProfile.ipFamilies', family, FAMILIES);
  }
  return { ...given, ...Object.fromEntries(corrected) };
}

function checkPluginMode(plugin: string, mode: string | undefined): void {
  if (mode === undefined || plugin === 'azure') return;
  throw aksRefusal('UnsupportedNetworkPluginModeWithNetworkPlugin', { mode, plugin });
}

interface Dataplane {
  readonly plugin: string;
  readonly dataplane: string;
  readonly policy: string | undefined;
}

function checkDataplane({ plugin, dataplane, policy }: Dataplane): void {
  if (dataplane !== 'cilium') {
    if (policy !== 'cilium') return;
    throw aksRefusal('InvalidParameter.ciliumPolicy', { dataplane });
  }
  if (plugin !== 'azure') throw aksRefusal('BadRequest.ciliumPlugin');
  if (policy !== 'cilium' && policy !== 'none') throw aksRefusal('BadRequest.ciliumPolicy');
}

/** Returns one range for each IP family; throws for ranges of a family that the cluster does not have. */
function cidrs(profile: JsonObject, sent: JsonObject, hasPods: boolean): JsonObject {
  const families = listAt(profile, 'ipFamilies').map(String);
  const ranges = (list: string, single: string, defaults: Readonly<Record<string, string>>): JsonObject => {
    const given = listAt(sent, list).map(String);
    const first = textAt(sent, single);
    const found = given.length > 0 ? given : first === undefined ? undefined : [first];
    if (given.length > 0 && given.length !== families.length) {
      throw invalidParameter(
        `networkProfile.${list}`,
        `There are ${given.length} ranges for the IP families [${families.join(', ')}].`,
      );
    }
    const kept = listAt(profile, list).map(String);
    const all = families.map((family, index) => found?.[index] ?? kept[index] ?? defaults[family] ?? '');
    for (const [index, family] of families.entries()) {
      if ((all[index] ?? '').includes(':') === (family === 'IPv6')) continue;
      throw invalidParameter(`networkProfile.${list}`, `'${all[index] ?? ''}' is no range of ${family}.`);
    }
    return { [single]: all[0], [list]: all };
  };
  return {
    ...ranges('serviceCidrs', 'serviceCidr', SERVICE_CIDRS),
    ...(hasPods ? ranges('podCidrs', 'podCidr', POD_CIDRS) : {}),
  };
}
