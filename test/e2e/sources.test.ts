/** `make up SOURCES=`: what changes at a source is answered a moment after it is due, and a source that fails ends nothing. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { answer, serveFile, startHostileServer } from "../../services/ingest/test/support/hostile-server.ts";
import { request, until } from "../support/http.ts";
import { endAll, netfactsJson, removeFolders, startStandalone, temporaryFolder } from "../support/processes.ts";

afterAll(async () => {
  await endAll();
  removeFolders();
});

const registry = (country: string) =>
  Buffer.from(`2|ripencc|20261121|1|19930901|20261120|+0000\nripencc|${country}|ipv4|193.0.0.0|2048|19930901|assigned\n`);

test("a source is fetched at its interval, and what changed is answered", async () => {
  let file: Buffer | null = registry("NL");
  const server = await startHostileServer((asked, socket) => {
    if (file === null || asked.path !== "/ripencc") answer(socket, 404);
    else serveFile(file, `"${file.indexOf("SE")}"`)(asked, socket);
  });
  const home = temporaryFolder();
  const sources = join(temporaryFolder(), "sources.yaml");
  writeFileSync(
    sources,
    `sources:\n  - {name: ripencc, section: allocations, format: delegated, location: "${server.url}/ripencc", allow_private: true, interval: 1s, stale_after: never}\n`,
  );
  const standalone = await startStandalone(home, { SOURCES: sources, FETCH_CONTACT: "noc@example.net" });
  try {
    const { url, key } = standalone;
    const country = async () => (await request(`${url}/api/v1/ip/193.0.6.139`, { key })).json.allocation?.registration_country;
    expect(await country()).toBe("NL");
    expect(server.requests[0]?.headers["user-agent"]).toMatch(/^netfacts\/\d+\.\d+\.\d+ \(\+noc@example\.net\)$/);
    file = registry("SE");
    await until(async () => (await country()) === "SE", { timeoutMs: 60_000 });
    file = null;
    type Sources = { items: { schedule: { failures: number } }[] };
    const failures = async () =>
      (await netfactsJson<Sources>(home, "ingest", "sources", "--sources", sources, "--json")).items[0]?.schedule.failures ?? 0;
    await until(async () => (await failures()) > 0, { timeoutMs: 60_000 });
    expect(await country()).toBe("SE");
    const metrics = await request(`${standalone.operationsUrl}/metrics`);
    expect(metrics.text).toMatch(/netfacts_ingest_source_fetches_total\{[^}]*source="ripencc"[^}]*outcome="fetched"[^}]*\} 1\n/);
    await standalone.stop();
  } finally {
    await server.stop();
  }
});
