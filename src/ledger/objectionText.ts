import { fieldErrorText } from '../api/schema/fieldError.ts';
import type { ClaimProblem, PodObjection } from './objection.ts';

export function objectionText(objection: PodObjection): string {
  switch (objection.kind) {
    case 'opted-out':
      return `it requires nodes without the label ${objection.label}`;
    case 'invalid':
      return objection.errors.map(fieldErrorText).join('; ');
    case 'volume-claim':
      return `PersistentVolumeClaim "${objection.claim}" ${claimText(objection)}`;
  }
}

function claimText(problem: ClaimProblem): string {
  switch (problem.problem) {
    case 'missing':
      return 'does not exist';
    case 'deleting':
      return 'is being deleted';
    case 'lost':
      return 'has lost its volume';
    case 'unbound':
      return 'is not completely bound yet';
    case 'no-storage-class':
      return 'is not bound and names no storage class';
    case 'storage-class-missing':
      return `names StorageClass "${problem.storageClass}", which does not exist`;
    case 'binds-immediately':
      return `is not bound, and its StorageClass "${problem.storageClass}" binds at once instead of waiting for a pod`;
    case 'volume-missing':
      return `is bound to PersistentVolume "${problem.volume}", which does not exist`;
    case 'volume-deleting':
      return `is bound to PersistentVolume "${problem.volume}", which is being deleted`;
  }
}
