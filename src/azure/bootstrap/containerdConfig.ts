/** The configuration file of containerd on a node, in TOML. */
type TomlValue = string | number | boolean | readonly string[];
type TomlTable = Readonly<Record<string, TomlValue>>;

const CRI = 'plugins."io.containerd.grpc.v1.cri"';
const RUNTIME_TYPE = 'io.containerd.runc.v2';

/**
 * `registry`: source of AKS's own images. With an NVIDIA driver, every container has access to the GPUs: there is no
 * other runtime.
 */
export function containerdConfig(registry: string, nvidia: boolean): string {
  const runtimes = `${CRI}.containerd.runtimes`;
  const runtime = nvidia ? 'nvidia-container-runtime' : 'runc';
  const binary = `/usr/bin/${runtime}`;
  const tables: readonly (readonly [name: string, table: TomlTable])[] = [
    [CRI, { sandbox_image: pauseImage(registry) }],
    [`${CRI}.containerd`, { default_runtime_name: runtime }],
    [`${runtimes}.${runtime}`, { runtime_type: RUNTIME_TYPE }],
    [`${runtimes}.${runtime}.options`, { BinaryName: binary, SystemdCgroup: true }],
    [`${runtimes}.untrusted`, { runtime_type: RUNTIME_TYPE }],
    [`${runtimes}.untrusted.options`, { BinaryName: binary }],
    [`${CRI}.registry`, { config_path: '/etc/containerd/certs.d' }],
    [`${CRI}.registry.headers`, { 'X-Meta-Source-Client': ['azure/aks'] }],
    ['metrics', { address: '0.0.0.0:10257' }],
  ];
  const lines = [...rows({ version: 2, oom_score: 0 })];
  for (const [name, table] of tables) lines.push(`[${name}]`, ...rows(table));
  return `${lines.join('\n')}\n`;
}

export function pauseImage(registry: string): string {
  return `${registry}/oss/kubernetes/pause:3.6`;
}

function rows(table: TomlTable): readonly string[] {
  // Strings and lists of strings have the same syntax in TOML and JSON.
  return Object.entries(table).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
}
