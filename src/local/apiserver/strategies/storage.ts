/** Rules for PersistentVolumeClaims, PersistentVolumes, StorageClasses and CSIDrivers. */
import { always } from '../defaults.ts';
import { ensureFields, fieldsAt, sameJson, sortedJson, textAt, type ApiObject, type Fields } from '../fields.ts';
import { admitClaimLimits } from '../admission/limitRanges.ts';
import type { Strategy } from '../resource.ts';
import { unsupportedValue } from '../status.ts';
import type { Check } from './check.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

export const claimStrategy: Strategy = {
  defaults: { spec: always({ volumeMode: 'Filesystem' }) },
  prepareCreate(draft, context) {
    draft['status'] = { phase: 'Pending' };
    admitClaimLimits(draft, context);
    const spec = ensureFields(draft, 'spec');
    if (spec['storageClassName'] !== undefined) return;
    for (const candidate of context.all('storage.k8s.io', 'storageclasses')) {
      if (candidate.metadata.annotations?.[DEFAULT_CLASS] === 'true')
        spec['storageClassName'] = candidate.metadata.name;
    }
  },
  validate(check, draft, old) {
    const spec = check.at('spec');
    if (old === undefined) {
      checkModes(spec);
      if (spec.at('resources', 'requests').get('storage') === undefined) spec.missing('resources[storage]');
      return;
    }
    const wasBound = textAt(old, 'status', 'phase') === 'Bound';
    const fixed = (claim: ApiObject): Fields => {
      const {
        volumeName: _volume,
        volumeAttributesClassName: _class,
        resources,
        ...rest
      } = fieldsAt(claim, 'spec') ?? {};
      // Only bound claims can be resized.
      return wasBound ? rest : { ...rest, resources };
    };
    const isBinding = (textAt(old, 'spec', 'volumeName') ?? '') === '';
    const rebound = !isBinding && textAt(draft, 'spec', 'volumeName') !== textAt(old, 'spec', 'volumeName');
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    if (!sameJson(fixed(draft), fixed(old)) || rebound) check.forbidden('spec', why);
  },
};

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

function checkModes(spec: Check): void {
  const modes = spec.list('accessModes');
  if (modes.length === 0) spec.missing('accessModes', 'at least 1 access mode is required');
  const unknown = modes.filter((mode) => !ACCESS_MODES.includes(String(mode)));
  spec.errors.push(...unknown.map((mode) => unsupportedValue('spec.accessModes', mode, ACCESS_MODES)));
}

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
/** Fields of a PersistentVolume's spec that are not volume sources. */
const NOT_A_SOURCE = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeMode',
  'mountOptions',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

function volumeSource(draft: ApiObject): Fields {
  const entries = Object.entries(fieldsAt(draft, 'spec') ?? {});
  return Object.fromEntries(entries.filter(([field]) => !NOT_A_SOURCE.has(field)));
}

function checkVolume(check: Check, draft: ApiObject, old: ApiObject | undefined): void {
  const spec = check.at('spec');
  checkModes(spec);
  const capacity = fieldsAt(draft, 'spec', 'capacity') ?? {};
  if (Object.keys(capacity).length === 0) spec.missing('capacity');
  if (capacity['storage'] === undefined || Object.keys(capacity).length > 1) {
    spec.errors.push(unsupportedValue('spec.capacity', capacity, ['storage']));
  }
  if (Object.keys(volumeSource(draft)).length === 0) spec.missing('', 'must specify a volume type');
  spec.oneOf('persistentVolumeReclaimPolicy', RECLAIM_POLICIES);
  if (old !== undefined && !sameJson(volumeSource(draft), volumeSource(old))) {
    spec.forbidden('persistentvolumesource', 'spec.persistentvolumesource is immutable after creation');
  }
}

export const volumeStrategy: Strategy = {
  defaults: { spec: always({ volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' }) },
  prepareCreate(draft, context) {
    draft['status'] = { phase: 'Pending', lastPhaseTransitionTime: context.now() };
  },
  validate: checkVolume,
};

export const storageClassStrategy: Strategy = {
  defaults: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  validate(check, _draft, old) {
    check.require('provisioner');
    check.oneOf('volumeBindingMode', BINDING_MODES);
    if (old !== undefined) check.fixed(old, CLASS_FIXED, sortedJson);
  },
};

const CLASS_FIXED = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];

export const csiDriverStrategy: Strategy = {
  defaults: {
    spec: always({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
      volumeLifecycleModes: ['Persistent'],
    }),
  },
};
