import type { CapacityScreen } from '../../screens.ts';
import { ageOf, grouped, shortType } from '../format.ts';
import { Bar, DecisionList, Empty, Panel, Waiting } from '../parts/basics.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { useScreen } from '../store.ts';

const QUOTAS: readonly Column<CapacityScreen['quotas'][number]>[] = [
  { title: 'Quota', cell: ({ name }) => name, key: ({ name }) => name },
  { title: 'Left', cell: ({ remaining }) => grouped(remaining), key: ({ remaining }) => remaining, class: 'number' },
];
const BUCKETS: readonly Column<CapacityScreen['throttle'][number]>[] = [
  { title: 'Rate limit', cell: ({ bucket }) => bucket },
  { title: 'Requests left', cell: ({ remaining }) => grouped(remaining), class: 'number' },
];
const RESERVATIONS: readonly Column<CapacityScreen['reservations'][number]>[] = [
  { title: 'Reservation', cell: ({ name }) => name },
  { title: 'Instances left', cell: ({ remaining }) => grouped(remaining), class: 'number' },
];
const SUBNETS: readonly Column<CapacityScreen['subnets'][number]>[] = [
  { title: 'Subnet', cell: ({ name }) => name },
  {
    title: 'Used',
    cell: ({ used, free }) => <Bar share={used + free === 0 ? 1 : used / (used + free)} label="used" />,
  },
  { title: 'IPs used', cell: ({ used }) => grouped(used), key: ({ used }) => used, class: 'number' },
  { title: 'IPs left', cell: ({ free }) => grouped(free), key: ({ free }) => free, class: 'number' },
];
const LIMITS: readonly Column<CapacityScreen['limits'][number]>[] = [
  { title: 'Pool', cell: ({ pool }) => pool },
  { title: 'Resource', cell: ({ resource }) => resource },
  { title: 'Used', cell: ({ used, limit }) => <Bar share={limit === 0 ? 1 : used / limit} label="used" /> },
  { title: 'Limit', cell: ({ limit }) => grouped(limit), class: 'number' },
];
const out = (now: number): readonly Column<CapacityScreen['unavailable'][number]>[] => [
  { title: 'Instance type', cell: ({ offering }) => shortType(offering), key: ({ offering }) => offering },
  { title: 'Zone', cell: ({ zone }) => zone || 'any', key: ({ zone }) => zone },
  { title: 'Capacity', cell: ({ capacityType }) => capacityType, key: ({ capacityType }) => capacityType },
  { title: 'Tried again in', cell: ({ until }) => ageOf(until - now), key: ({ until }) => until, class: 'number' },
];

export function Capacity() {
  const { data, problem } = useScreen<CapacityScreen>('capacity');
  if (data === undefined) return <Waiting problem={problem} />;
  return (
    <>
      <div class="columns">
        <Panel title="Offerings that cannot be had now">
          {data.unavailable.length === 0 ? (
            <Empty>None: everything that was asked for was delivered.</Empty>
          ) : (
            <Table
              label="Unavailable offerings"
              rows={data.unavailable}
              columns={out(data.time)}
              id={({ offering, zone, capacityType }) => `${offering} ${zone} ${capacityType}`}
            />
          )}
        </Panel>
        <Panel title="Launches that failed">
          {data.failures.length === 0 ? <Empty>None.</Empty> : <DecisionList decisions={data.failures} />}
        </Panel>
      </div>
      <div class="columns">
        <Panel title="Quota of the subscription">
          {data.quotas.length === 0 ? (
            <Empty>Nothing is known of it: Azure was not asked yet, or there is no Azure here.</Empty>
          ) : (
            <Table label="Quota" rows={data.quotas} columns={QUOTAS} id={({ name }) => name} height={420} />
          )}
        </Panel>
        <div class="stack">
          <Panel title="Limits of pools">
            {data.limits.length === 0 ? (
              <Empty>No pool has a limit.</Empty>
            ) : (
              <Table
                label="Limits"
                rows={data.limits}
                columns={LIMITS}
                id={({ pool, resource }) => `${pool} ${resource}`}
              />
            )}
          </Panel>
          <Panel title="Addresses of subnets">
            {data.subnets.length === 0 ? (
              <Empty>Nothing is known of them: Azure was not asked yet, or there is no Azure here.</Empty>
            ) : (
              <Table label="Subnets" rows={data.subnets} columns={SUBNETS} id={({ name }) => name} />
            )}
          </Panel>
          <Panel
            title="Rate limits of Azure"
            aside={<span class="muted">waited {data.throttleWait.toFixed(1)} s in all</span>}
          >
            {data.throttle.length === 0 ? (
              <Empty>Azure has named none.</Empty>
            ) : (
              <Table label="Rate limits" rows={data.throttle} columns={BUCKETS} id={({ bucket }) => bucket} />
            )}
          </Panel>
          {data.reservations.length > 0 && (
            <Panel title="Reserved capacity">
              <Table label="Reservations" rows={data.reservations} columns={RESERVATIONS} id={({ name }) => name} />
            </Panel>
          )}
        </div>
      </div>
    </>
  );
}
