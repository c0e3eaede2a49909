/** When routes were first and last seen, as the API tells it: over imports, a rollback, and a start of everything anew. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { peerIndexRecord, ribRecord } from "../../libs/mrt/test/support/mrt-writer.ts";
import { request, until } from "../support/http.ts";
import { endAll, netfacts, removeFolders, type Standalone, startStandalone, temporaryFolder } from "../support/processes.ts";

afterAll(async () => {
  await endAll();
  removeFolders();
});

const times = [1_763_683_200, 1_763_712_000, 1_763_740_800] as const;
const [morning, noon, evening] = ["2025-11-21T00:00:00Z", "2025-11-21T08:00:00Z", "2025-11-21T16:00:00Z"];

test("first and last sight survive imports, a rollback, and a restart", async () => {
  const home = temporaryFolder();
  const folder = temporaryFolder();
  const sources = join(folder, "sources.yaml");
  writeFileSync(
    sources,
    "full_feed_min: {ipv4: 1, ipv6: 1}\nsources: [{name: rrc00, section: routes, format: mrt, location: rib, shrink_max: 1, stale_after: never}]\n",
  );
  /** AS 1 announces its prefix always, AS 2 only where it is named. */
  const importAt = async (timestamp: number, second: boolean) => {
    const record = (prefix: string, origin: number) => ribRecord(prefix, [{ peer: 0, path: `64500 ${origin}` }], { timestamp });
    const records = [record("11.0.0.0/24", 1), ...(second ? [record("11.0.1.0/24", 2)] : [])];
    writeFileSync(
      join(folder, "rib"),
      Buffer.concat([peerIndexRecord([{ address: "192.0.2.1", asn: 64500 }], "", 0, timestamp), ...records]),
    );
    const { code, err } = await netfacts(home, "ingest", "run", "--sources", sources);
    expect([code, err]).toEqual([0, expect.any(String)]);
  };
  let standalone: Standalone;
  let key = "";
  const get = async (path: string) => (await request(`${standalone.url}/api/v1${path}`, { key })).json;
  const seen = ({ first_seen_at, last_seen_at }: { first_seen_at: string; last_seen_at: string }) => [first_seen_at, last_seen_at];
  /** What is told of the first prefix, by both records that tell it, and of the second AS. */
  const told = async () => {
    const [routing, prefix, second] = [await get("/routing/11.0.0.1"), await get("/prefix/11.0.0.0/24"), await get("/asn/AS2")];
    return [seen(routing.origins[0]), seen(prefix.origins[0]), [second.announced, ...seen(second)]];
  };
  const becomes = async (route: readonly unknown[], second: readonly unknown[]) => {
    await until(async () => JSON.stringify((await told())[0]) === JSON.stringify(route), { timeoutMs: 60_000 });
    expect(await told()).toEqual([route, route, second]);
  };

  await importAt(times[0], true);
  standalone = await startStandalone(home);
  key = standalone.key;
  await becomes([morning, morning], [true, morning, morning]);
  await importAt(times[1], false);
  await becomes([morning, noon], [false, morning, morning]);
  expect((await netfacts(home, "snapshot", "rollback")).code).toBe(0);
  await becomes([morning, morning], [true, morning, morning]);
  await standalone.stop();
  await importAt(times[2], true);
  standalone = await startStandalone(home);
  await becomes([morning, evening], [true, morning, evening]);
  await standalone.stop();
});
