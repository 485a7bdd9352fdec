import { countText } from './countText.ts';
import type { PlanNote } from './planNote.ts';

export function planNoteText(note: PlanNote): string {
  switch (note.kind) {
    case 'fixed-pool':
      return `NodePool ${note.pool} keeps a fixed number of nodes; it buys none for pods.`;
    case 'no-pool':
      return "No NodePool is given: planned with AKS's default one (family D, amd64).";
    case 'no-node-class':
      return `NodePool ${note.pool}: AKSNodeClass ${note.nodeClass} is not given; planned with the defaults.`;
    case 'counted-by-owner':
      return `${objectsAre(note.objects)} not counted: planned through the owner in the input.`;
    case 'static-pods':
      return `${objectsAre(note.objects)} left out: static pods of nodes.`;
    case 'autoscaled': {
      const { autoscaler, target, replicas, most } = note;
      if (replicas === 0) return `${autoscaler}: ${target} is set to 0 replicas, which turns autoscaling off.`;
      const limit = replicas === most ? ', the most that it allows' : `; it may grow to ${most}`;
      return `${autoscaler}: planned ${countText(replicas, 'replica')} of ${target}${limit}.`;
    }
    case 'autoscaler-without-target':
      return `${note.autoscaler}: ${note.target} is not given; nothing is planned for it.`;
  }
}

const objectsAre = (count: number): string => `${countText(count, 'object')} ${count === 1 ? 'is' : 'are'}`;
