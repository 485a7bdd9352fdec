/** What runs takes: millicores and bytes. */
export interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

export const NO_USAGE: Usage = { cpu: 0, memory: 0 };

export const addUsage = (left: Usage, right: Usage): Usage => ({
  cpu: left.cpu + right.cpu,
  memory: left.memory + right.memory,
});
