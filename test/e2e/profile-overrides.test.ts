/**
 * An override of an AS profile, from the command line or the operators' API to the answer, in one process and as services.
 *
 * @alone It asserts a deadline.
 */

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startDistributed } from "../support/distributed.ts";
import { request } from "../support/http.ts";
import {
  type Ended,
  endAll,
  netfactsJsonWith,
  netfactsWith,
  removeFolders,
  startStandalone,
  temporaryFolder,
} from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

const deadlineMs = 2_000;

interface World {
  readonly url: string;
  readonly key: string;
  readonly operatorUrl: string;
  /** Runs a command line on its control data. */
  run(...args: string[]): Promise<Ended>;
  stop(): Promise<unknown>;
}

function sourcesWithNames(): string {
  const sources = smallSources(temporaryFolder(), "NL");
  const names = Array.from({ length: 50 }, (_, at) => `${at + 1}\tNAME-${at + 1}\n`);
  writeFileSync(join(dirname(sources), "names"), `3333\tRIPE-NCC-AS\n${names.join("")}`);
  writeFileSync(
    sources,
    "sources:\n  - {name: ripencc, section: allocations, format: delegated, location: ripencc.txt}\n  - {name: names, section: as_names, format: name-list, location: names}\n",
  );
  return sources;
}

async function inOneProcess(sources: string): Promise<World> {
  const home = temporaryFolder();
  const { url, key, out, stop } = await startStandalone(home, { SOURCES: sources, OPERATOR_PORT: "0" });
  const operatorUrl = /^Operator API: (\S+)\/docs/m.exec(out())?.[1] ?? "";
  return { url, key, operatorUrl, stop, run: (...args) => netfactsWith({}, home, ...args) };
}

async function asServices(sources: string): Promise<World> {
  const home = temporaryFolder();
  const all = await startDistributed({
    replicas: { "ip-routing": 1, "asn-prefix": 2, "rdns-resolver": 0, ingest: 1 },
    settingsOf: (service): Record<string, string> =>
      service === "ingest" ? { SOURCES: sources, INGEST_STATE_DIR: join(home, "state") } : {},
    snapshot: "by-ingest",
  });
  const { secret: key } = await netfactsJsonWith<{ secret: string }>(
    all.env,
    home,
    "keys",
    "create",
    "--label",
    "all",
    "--rate",
    "100000/60s",
  );
  const [{ url, operatorUrl } = { url: "", operatorUrl: "" }] = all.gateways;
  return { url, key, operatorUrl, stop: () => all.stop(), run: (...args) => netfactsWith(all.env, home, ...args) };
}

const sourced = { name: "RIPE-NCC-AS", organisation: null, website: null, types: [] };

describe.each([
  ["in one process", inOneProcess],
  ["as services", asServices],
])("%s", (_form, start) => {
  const sources = sourcesWithNames();
  let world: World;
  beforeAll(async () => {
    world = await start(sources);
  });
  afterAll(() => world?.stop());

  async function profile() {
    const { status, json } = await request(`${world.url}/api/v1/asn/AS3333?limit=1`, { key: world.key });
    expect(status).toBe(200);
    const { name, organisation, website, network_types } = json as typeof sourced & { network_types: { type: string; basis: string }[] };
    return { name, organisation, website, types: network_types.map(({ type, basis }) => `${type} ${basis}`) };
  }

  /** Ms from the end of the command to the first answer that is as wanted. */
  async function delayOf(wanted: object, ...args: string[]): Promise<number> {
    expect(await world.run("profiles", ...args)).toMatchObject({ code: 0 });
    return delayUntil(wanted);
  }

  async function delayUntil(wanted: object): Promise<number> {
    const since = performance.now();
    for (;;) {
      const found = await profile();
      const ms = performance.now() - since;
      if (JSON.stringify(found) === JSON.stringify(wanted)) return ms;
      if (ms > 10 * deadlineMs) expect(found).toEqual(wanted);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  test("an override is answered within two seconds, and so is its deletion, after which the sources count again", async () => {
    expect(await profile()).toEqual(sourced);
    const types = ["ix operator:overrides", "isp operator:overrides"];
    const delays: number[] = [];
    for (const name of ["RIPE", "RIPE NCC", "R"]) {
      const said = ["--name", name, "--organisation", "Org, Ltd", "--website", "https://ripe.example/", "--network-type", "ix", "isp"];
      delays.push(
        await delayOf({ name, organisation: "Org, Ltd", website: "https://ripe.example/", types }, "override", "AS3333", ...said),
      );
    }
    delays.push(await delayOf({ ...sourced, name: null }, "override", "AS3333", "--name", "-"));
    delays.push(await delayOf(sourced, "delete", "AS3333"));
    console.log(`ms from command to answer: ${delays.map(Math.round).join(", ")}`);
    // A thread is started and every pod reports for each of them: one that another program delays is no miss.
    expect(delays.toSorted((a, b) => a - b)[2]).toBeLessThan(deadlineMs);
    expect(Math.max(...delays)).toBeLessThan(2 * deadlineMs);
  });

  test("an override by the operators' API is answered, found, and gone after its deletion", async () => {
    const { code, out } = await world.run("keys", "create", "--label", "operator", "--scopes", "admin", "--json");
    expect(code).toBe(0);
    const { secret } = JSON.parse(out) as { secret: string };
    const admin = async (method: string, path: string, body?: object) => {
      const content = body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      return request(`${world.operatorUrl}/admin/v1/profiles${path}`, { key: secret, method, ...content });
    };
    const override = { name: "By HTTP", organisation: "Org, “Ltd”", network_types: ["ix"] };
    expect(await admin("PUT", "/AS3333", override)).toMatchObject({ status: 201 });
    const delays = [await delayUntil({ ...sourced, name: "By HTTP", organisation: "Org, “Ltd”", types: ["ix operator:overrides"] })];
    expect((await admin("GET", "?q=by%20http")).json).toMatchObject({ items: [{ asn: 3333, override }], next_cursor: null });
    // What sources say is kept beside everything else, after the run that read it.
    const others = [{ value: "RIPE-NCC-AS", source: "names" }];
    const field = async () => ((await admin("GET", "/AS3333")).json as { fields: { others: object[] }[] }).fields[0];
    for (let tries = 0; tries < 100 && (await field())?.others.length === 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await field()).toMatchObject({ field: "name", value: "By HTTP", source: "override", others });
    expect((await admin("GET", "?source=names&q=as3333")).json).toMatchObject({ items: [{ asn: 3333, override }], next_cursor: null });
    expect(await admin("DELETE", "/AS3333")).toMatchObject({ status: 204 });
    delays.push(await delayUntil(sourced));
    console.log(`ms from request to answer: ${delays.map(Math.round).join(", ")}`);
    expect(Math.max(...delays)).toBeLessThan(2 * deadlineMs);
  });

  if (start === inOneProcess)
    test("an import by the command line keeps overrides", async () => {
      await delayOf({ ...sourced, name: "KEPT" }, "override", "AS3333", "--name", "KEPT");
      expect(await world.run("ingest", "run", "--sources", sources)).toMatchObject({ code: 0 });
      expect(await profile()).toMatchObject({ name: "KEPT" });
    });
});

afterAll(async () => {
  await endAll();
  removeFolders();
});
