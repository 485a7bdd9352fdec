/** The flags that a kubelet of a minor version knows, as far as AKS nodes use them. */
const FLAGS: ReadonlySet<string> = new Set(
  `address allowed-unsafe-sysctls anonymous-auth authentication-token-webhook authorization-mode cgroups-per-qos
   client-ca-file cloud-provider cluster-dns cluster-domain container-log-max-files container-log-max-size cpu-cfs-quota
   cpu-cfs-quota-period cpu-manager-policy enforce-node-allocatable event-qps eviction-hard fail-swap-on feature-gates
   image-credential-provider-bin-dir image-credential-provider-config image-gc-high-threshold image-gc-low-threshold
   kube-reserved kubeconfig max-pods node-status-update-frequency pod-manifest-path pod-max-pids protect-kernel-defaults
   read-only-port register-with-taints resolv-conf rotate-certificates streaming-connection-idle-timeout system-reserved
   tls-cert-file tls-cipher-suites tls-private-key-file topology-manager-policy`.split(/\s+/),
);
/** First minor version without the flag. */
const REMOVED: ReadonlyMap<string, number> = new Map([
  ['azure-container-registry-config', 30],
  ['keep-terminated-pod-volumes', 31],
  ['cloud-config', 34],
  ['pod-infra-container-image', 35],
]);

export function isKubeletFlag(name: string, minor: number): boolean {
  return FLAGS.has(name) || minor < (REMOVED.get(name) ?? 0);
}
