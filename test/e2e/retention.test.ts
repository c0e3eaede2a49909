/** What an operator of one process wants kept is kept by its imports, too, which run in threads. */

import { dirname } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { request, until } from "../support/http.ts";
import { endAll, netfactsJsonWith, removeFolders, startStandalone, temporaryFolder } from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

afterAll(async () => {
  await endAll();
  removeFolders();
});

test("imports of a running process keep as many snapshots as SNAPSHOTS_KEPT says", async () => {
  const home = temporaryFolder();
  const sources = smallSources(temporaryFolder(), "NL");
  const { out } = await startStandalone(home, { SOURCES: sources, OPERATOR_PORT: "0", SNAPSHOTS_KEPT: "5", SNAPSHOT_DAYS_KEPT: "0" });
  const url = `${/^Operator API: (\S+)\/docs/m.exec(out())?.[1]}/admin/v1/ingest/runs`;
  const { secret: key } = await netfactsJsonWith<{ secret: string }>({}, home, "keys", "create", "--label", "x", "--scopes", "admin");
  const published: unknown[] = [];
  for (const country of ["DE", "FR", "GB", "IT", "ES"]) {
    smallSources(dirname(sources), country);
    const { json } = await request(url, { key, method: "POST" });
    const { id } = json as { id: string };
    await until(async () => ((await request(`${url}/${id}`, { key })).json as { state: string }).state === "succeeded");
    published.push(((await request(`${url}/${id}`, { key })).json as { snapshot: string }).snapshot);
  }
  const kept = await netfactsJsonWith<{ snapshots: { id: string }[] }>({}, home, "snapshot", "list");
  expect(kept.snapshots.map(({ id }) => id).sort()).toEqual(published.sort());
});
