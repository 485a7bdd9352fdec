/** How to end a problem found by `doctor`, as plain data. */
export type Remedy =
  | { readonly kind: 'double-limit'; readonly resource: string }
  | { readonly kind: 'remove-budget'; readonly index: number }
  | { readonly kind: 'open-budgets'; readonly percent: number }
  | { readonly kind: 'free-empty-nodes' }
  | { readonly kind: 'consolidate' }
  | { readonly kind: 'replace-at-night' }
  | { readonly kind: 'prefer-pool'; readonly pool: string }
  | { readonly kind: 'allow-one-unavailable' }
  | { readonly kind: 'select-nothing' }
  | { readonly kind: 'double-skew' }
  | { readonly kind: 'drop-spread' }
  | { readonly kind: 'use-class'; readonly nodeClass: string }
  | { readonly kind: 'create-class'; readonly nodeClass: string }
  | { readonly kind: 'repair-class'; readonly nodeClass: string }
  | { readonly kind: 'look-at-pool'; readonly pool: string }
  | { readonly kind: 'ask-for'; readonly resources: readonly string[] }
  | { readonly kind: 'sign-in' }
  | { readonly kind: 'raise-quota'; readonly quota: string; readonly region: string }
  | { readonly kind: 'widen-families' }
  | { readonly kind: 'ask-as-reviewer' }
  | { readonly kind: 'grant-by-hand'; readonly rules: readonly object[] }
  | { readonly kind: 'add-rules'; readonly role: string };
