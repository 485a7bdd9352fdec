/** Assumptions of a plan about its input, as plain data. Objects are named by their titles in the input. */
export type PlanNote =
  | { readonly kind: 'fixed-pool'; readonly pool: string }
  | { readonly kind: 'no-pool' }
  | { readonly kind: 'no-node-class'; readonly pool: string; readonly nodeClass: string }
  | { readonly kind: 'counted-by-owner'; readonly objects: number }
  | { readonly kind: 'static-pods'; readonly objects: number }
  | {
      readonly kind: 'autoscaled';
      readonly autoscaler: string;
      readonly target: string;
      readonly replicas: number;
      readonly most: number;
    }
  | { readonly kind: 'autoscaler-without-target'; readonly autoscaler: string; readonly target: string };
