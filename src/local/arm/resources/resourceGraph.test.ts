import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArmFixture } from '../../../../test/fixtures/local/armFixture.ts';

interface Page {
  readonly totalRecords: number;
  readonly count: number;
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly $skipToken?: string;
}

describe('Resource Graph', () => {
  let fixture: ArmFixture;

  beforeAll(async () => {
    fixture = await ArmFixture.start({ nodeResourceGroup: 'MC_One' });
    const plain = (name: string, tags: Record<string, string>) =>
      fixture.createMachine(name).then(async () => {
        await fixture.compute.virtualMachines.update(fixture.group, name, { tags }, { updateIntervalInMs: 2 });
      });
    await plain('pooled', { 'karpenter.sh_nodepool': 'default', 'karpenter.azure.com_cluster': 'a' });
    await plain('alone', { 'karpenter.azure.com_cluster': 'a' });
    await plain('managed', {
      'karpenter.sh_nodepool': 'default',
      'karpenter.azure.com_aksmachine_nodeclaim': 'managed',
    });
    await plain('similar', { 'karpenter.sh_nodepools': 'x' });
  });
  afterAll(() => fixture.close());

  const post = (query: string, options: object = {}, subscriptions?: readonly string[]) =>
    fixture.ask('/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01', {
      method: 'POST',
      body: { subscriptions: subscriptions ?? [fixture.arm.subscriptionId], query, options },
    });
  const ask = async (query: string, options: object = {}): Promise<Page> => (await post(query, options)).body as Page;
  const names = async (query: string) => (await ask(query)).data.map(({ name }) => name);
  const machines = 'Resources | where type == "microsoft.compute/virtualmachines"';

  it('answers the queries of provisioners', async () => {
    const karpenter = (type: string): string =>
      `Resources | where type == "${type}" | where resourceGroup == "mc_one" | where tags has_cs "karpenter.sh_nodepool" | where not(tags has_cs "karpenter.azure.com_aksmachine_nodeclaim")`;
    expect(await names(karpenter('microsoft.compute/virtualmachines'))).toEqual(['pooled']);
    expect(await names(karpenter('microsoft.network/networkinterfaces'))).toEqual([
      'alone',
      'managed',
      'pooled',
      'similar',
    ]);
    const older = ' | where tags contains_cs "karpenter.sh_nodepool" | where tags !contains_cs "aksmachine_nodeclaim"';
    expect(await names(`${machines}${older}`)).toEqual(['pooled', 'similar']);
    expect(await names(`${machines} | where tags['karpenter.azure.com_cluster'] == "a"`)).toEqual(['alone', 'pooled']);
  });

  it('returns rows in the format of Resource Graph', async () => {
    const [row] = (await ask(`${machines} | where name == 'pooled'`)).data;
    expect(row).toMatchObject({
      id: expect.stringContaining('/resourceGroups/MC_One/') as string,
      type: 'microsoft.compute/virtualmachines',
      resourceGroup: 'mc_one',
      location: 'eastus',
      subscriptionId: fixture.arm.subscriptionId,
      tenantId: fixture.arm.credentials.tenantId,
      zones: ['2'],
      properties: { hardwareProfile: { vmSize: 'Standard_D2s_v5' }, provisioningState: 'Succeeded' },
    });
    expect(JSON.stringify(row)).not.toContain('customData');
  });

  it.each<readonly [string, readonly unknown[]]>([
    [`${machines} | where name =~ 'ALONE' or name == "managed"`, ['alone', 'managed']],
    [`${machines} | where name in ('alone', 'managed')`, ['alone', 'managed']],
    [`${machines} | where name !in~ ('ALONE', 'managed') | project name`, ['pooled', 'similar']],
    [
      `${machines} | where properties.hardwareProfile.vmSize endswith "D2s_v5" and isnotempty(zones) | limit 1`,
      ['alone'],
    ],
    [`${machines} | where not(name startswith 'P' or name has "alone") | take 1`, ['managed']],
    [`${machines} | where isempty(tags['karpenter.azure.com_cluster'])`, ['managed', 'similar']],
  ])('understands %s', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it('counts rows', async () => {
    expect((await ask(`${machines} | count`)).data).toEqual([{ Count: 4 }]);
  });

  it('returns rows in pages', async () => {
    const seen: unknown[] = [];
    let options: object = { $top: 3 };
    for (let page = 0; page < 5; page += 1) {
      const { data, totalRecords, $skipToken } = await ask(machines, options);
      expect(totalRecords).toBe(4);
      seen.push(...data.map(({ name }) => name));
      if ($skipToken === undefined) break;
      options = { $top: 3, $skipToken };
    }
    expect(seen).toEqual(['alone', 'managed', 'pooled', 'similar']);
    expect((await post(machines, {}, ['11111111-1111-1111-1111-111111111111'])).body).toMatchObject({ count: 0 });
  });

  it.each([
    'Containers | where a == "b"',
    'Resources | summarize sum(x)',
    'Resources | where moon == "full"',
    'Resources | where name == ',
    'Resources | where name == "a" extra',
    'Resources | dance',
  ])('refuses %s', async (query) => {
    expect(await post(query)).toMatchObject({
      status: 400,
      body: { error: { code: 'BadRequest', details: [{ code: 'InvalidQuery' }, { code: 'ParserFailure' }] } },
    });
  });
});
