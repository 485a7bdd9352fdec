/** Resource kinds of Microsoft.Compute for capacity reservations: groups, and reservations by size and zone in them. */
import type { ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { at, textAt } from '../jsonPath.ts';
import type { ResourceKind } from '../resources/resourceKind.ts';
import { withDefaults } from '../resources/resourceRoutes.ts';
import type { ArmResource } from '../resourceStore.ts';

const GROUPS = 'Microsoft.Compute/capacityReservationGroups';
const RESERVATIONS = `${GROUPS}/capacityReservations`;
const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines';

export const RESERVATION_KINDS: readonly ResourceKind[] = [
  {
    type: GROUPS,
    tracked: true,
    put: 'sync',
    patch: 'tags',
    remove: 'sync',
    duration: 'other',
    properties: ({ body }) => withDefaults(body, {}),
    show: (context, group, { expand }) => {
      if (!expand.includes('instanceview')) return group;
      const capacityReservations = reservationsOf(context, group).map((reservation) => ({
        name: reservation.name,
        utilizationInfo: {
          currentCapacity: at(reservation.sku, 'capacity'),
          virtualMachinesAllocated: machinesOf(context, group, reservation).map(({ id }) => ({ id })),
        },
      }));
      return { ...group, properties: { ...group.properties, instanceView: { capacityReservations } } };
    },
    checkDelete: (context, group) => {
      if (reservationsOf(context, group).length === 0) return;
      throw refusal('OperationNotAllowed.reservations', { name: group.name });
    },
  },
  {
    type: RESERVATIONS,
    tracked: false,
    tagged: true,
    put: 'async',
    patch: 'merge',
    remove: 'accepted',
    duration: 'other',
    members: ['sku'],
    properties: ({ body }) => withDefaults(body, {}),
  },
];

function reservationsOf(context: ArmContext, group: ArmResource): readonly ArmResource[] {
  const parent = `${group.id}/`.toLowerCase();
  return context.store.list(RESERVATIONS).filter(({ id }) => id.toLowerCase().startsWith(parent));
}

/** Returns the VMs that use a reservation: they name only the group, so size and zone must match. */
function machinesOf(context: ArmContext, group: ArmResource, { sku, zones }: ArmResource): readonly ArmResource[] {
  return context.store.list(VIRTUAL_MACHINES).filter(({ properties, zones: own }) => {
    const named = textAt(properties, 'capacityReservation', 'capacityReservationGroup', 'id') ?? '';
    return (
      named.toLowerCase() === group.id.toLowerCase() &&
      textAt(properties, 'hardwareProfile', 'vmSize') === textAt(sku, 'name') &&
      own?.[0] === zones?.[0]
    );
  });
}
