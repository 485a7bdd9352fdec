/** `--name value` among the flags of a bench. */
export function textFlag(flags: readonly string[], name: string, fallback: string): string {
  const at = flags.indexOf(`--${name}`);
  return at < 0 ? fallback : (flags[at + 1] ?? fallback);
}

export function numberFlag(flags: readonly string[], name: string, fallback: number): number {
  return Number(textFlag(flags, name, String(fallback)));
}
