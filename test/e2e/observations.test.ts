/** Observations through the one-process form, as its operator uploads them: from the operator listener to the answers of callers. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { request, until } from "../support/http.ts";
import { endAll, netfactsJson, netfactsWith, removeFolders, startStandalone, temporaryFolder } from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

afterAll(async () => {
  await endAll();
  removeFolders();
});

const row = (ip: string, day: number) =>
  JSON.stringify({ ip, lat: 52.37, lon: 4.9, country: "NL", city: "Amsterdam", observed_at: `2026-11-0${day}T10:00:00Z` });

test("what is uploaded is answered, exported, and gone from every answer once it is deleted", async () => {
  const home = temporaryFolder();
  const sources = smallSources(temporaryFolder(), "NL");
  const { url, key, out, stop } = await startStandalone(home, { SOURCES: sources, OPERATOR_PORT: "0", OBSERVATIONS_INTERVAL_SECONDS: "1" });
  const operatorUrl = /^Operator API: (\S+)\/docs/m.exec(out())?.[1] ?? "";
  const { secret } = await netfactsJson<{ secret: string }>(home, "keys", "create", "--label", "operator", "--scopes", "admin", "--json");
  const path = `${operatorUrl}/admin/v1/ingest/observations`;
  const body = [1, 2, 3].map((day) => row("11.22.33.44", day)).join("\n");
  const location = async () => (await request(`${url}/api/v1/ip/11.22.33.44`, { key })).json.location;
  expect(await location()).toBeNull();

  const sent = { key: secret, method: "POST", body, headers: { "content-type": "application/x-ndjson" } };
  const upload = await request(`${path}?source=probes&upload=first`, sent);
  expect([upload.status, upload.json.rows, upload.json.offset]).toEqual([200, 3, body.length]);
  expect((await request(`${path}/uploads/first`, { key: secret })).json).toEqual(upload.json);
  await until(async () => (await location())?.country === "NL", { timeoutMs: 60_000 });
  expect(await location()).toMatchObject({ basis: "observation", city: "Amsterdam", observations: 3 });

  // A caller's key is no operator's, and a problem of ingest comes through the gateway as it is.
  expect((await request(`${path}?source=probes`, { key, method: "DELETE" })).status).toBe(403);
  expect((await request(path, { ...sent, headers: { "content-type": "image/png" } })).json.code).toBe("unsupported_media_type");
  // One that is refused long before its end, too: many times what sockets hold.
  const wrong = '{"address":"192.0.2.1","observed_at":"2026-11-20T00:00:00Z"}\n'.repeat(150_000);
  for (let time = 0; time < 5; time++) {
    const refused = await request(`${path}?source=probes&upload=wrong`, { ...sent, body: wrong });
    expect([refused.status, refused.json.detail]).toEqual([
      400,
      expect.stringMatching(/^1000 of 1000 lines are invalid: .* Stored are 0 bytes, 0 lines\.$/),
    ]);
  }

  const exported = (await request(`${path}?address=11.22.33.44`, { key: secret })).text.trim().split("\n");
  expect(exported.map((line) => JSON.parse(line).source)).toEqual(["probes", "probes", "probes"]);
  const settings = { NETFACTS_KEY: secret };
  const file = join(home, "more.ndjson");
  writeFileSync(file, row("11.22.33.44", 4));
  const imported = await netfactsWith(settings, home, "observations", "import", file, "--url", operatorUrl);
  expect([imported.code, imported.out]).toEqual([0, `${file}: 1 lines, 1 stored, 0 invalid\n`]);
  await until(async () => (await location())?.observations === 4, { timeoutMs: 60_000 });
  const deleted = await netfactsWith(settings, home, "observations", "delete", "--address", "11.22.33.44", "--url", operatorUrl);
  expect([deleted.code, deleted.out]).toEqual([0, "4 stored lines deleted\n"]);
  expect((await request(`${path}?address=11.22.33.44`, { key: secret })).text).toBe("");
  await until(async () => (await location()) === null, { timeoutMs: 60_000 });
  await stop();
});
