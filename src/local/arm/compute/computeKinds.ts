/** Resource kinds of Microsoft.Compute for `resourceRoutes`: extensions, disks and disk encryption sets. */
import { timestamp, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { objectAt, textAt } from '../jsonPath.ts';
import type { ResourceKind, ResourceWrite } from '../resources/resourceKind.ts';
import { requiredText, withDefaults } from '../resources/resourceRoutes.ts';
import type { ArmResource } from '../resourceStore.ts';
import { powerStateOf } from './instanceView.ts';

const DISKS = 'Microsoft.Compute/disks';
const EXTENSIONS = 'Microsoft.Compute/virtualMachines/extensions';
const ENCRYPTION_SETS = 'Microsoft.Compute/diskEncryptionSets';

const COMMON = { tracked: true, put: 'accepted', patch: 'merge', remove: 'accepted', duration: 'other' } as const;

export const COMPUTE_KINDS: readonly ResourceKind[] = [
  {
    ...COMMON,
    type: EXTENSIONS,
    operations: 'virtualMachineExtensions',
    tracked: false,
    tagged: true,
    put: 'async',
    duration: 'extension',
    properties: (write) => {
      checkRunning(write);
      for (const member of ['publisher', 'type', 'typeHandlerVersion']) requiredText(write.body, member);
      const { protectedSettings: _protectedSettings, ...properties } = objectAt(write.body, 'properties');
      return properties;
    },
    hidden: ({ body, existing }) => ({ ...existing?.hidden, ...protectedOf(body) }),
  },
  {
    ...COMMON,
    type: DISKS,
    members: ['sku'],
    properties: ({ body, existing, context }) => {
      requiredText(body, 'creationData', 'createOption');
      const now = timestamp(context.clock.now());
      const before = existing?.properties;
      return {
        ...withDefaults(body, {
          encryption: { type: 'EncryptionAtRestWithPlatformKey' },
          networkAccessPolicy: 'AllowAll',
        }),
        diskState: textAt(before, 'diskState') ?? 'Unattached',
        timeCreated: textAt(before, 'timeCreated') ?? now,
        uniqueId: textAt(before, 'uniqueId') ?? context.random.uuid(),
      };
    },
    checkDelete: (_context, disk) => {
      if (disk.managedBy === undefined) return;
      throw refusal('OperationNotAllowed.diskAttached', { name: disk.name, managedBy: disk.managedBy });
    },
  },
  {
    ...COMMON,
    type: ENCRYPTION_SETS,
    properties: ({ body }) => {
      requiredText(body, 'activeKey', 'keyUrl');
      return withDefaults(body, {
        encryptionType: 'EncryptionAtRestWithCustomerKey',
        previousKeys: [],
        rotationToLatestKeyVersionEnabled: false,
      });
    },
    checkDelete: (context, set) => {
      const user = diskEncryptedBy(context, set);
      if (user === undefined) return;
      throw refusal('OperationNotAllowed.encryptionSetInUse', { name: set.name, id: user.id });
    },
  },
];

function protectedOf(body: unknown): Readonly<Record<string, unknown>> {
  const { protectedSettings } = objectAt(body, 'properties');
  return protectedSettings === undefined ? {} : { protectedSettings };
}

/** Throws when the VM is off: the agent inside the VM installs its extensions. */
function checkRunning({ context, id }: ResourceWrite): void {
  const machine = context.store.find(id.split('/').slice(0, -2).join('/'));
  if (machine === undefined) return;
  const power = powerStateOf(machine);
  if (power === 'running' || power === 'starting') return;
  throw refusal('OperationNotAllowed.stoppedVm');
}

function diskEncryptedBy(context: ArmContext, set: ArmResource): ArmResource | undefined {
  const wanted = set.id.toLowerCase();
  return context.store
    .list(DISKS)
    .find(({ properties }) => textAt(properties, 'encryption', 'diskEncryptionSetId')?.toLowerCase() === wanted);
}
