/**
 * An override of an AS profile, from the command line or the operators' API to the answer, in one process and as services.
 *
 * @alone It asserts a deadline.
 */

import { writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startDistributed } from "../support/distributed.ts";
import { median, request, until } from "../support/http.ts";
import {
  type Ended,
  endAll,
  netfactsJsonWith,
  netfactsWith,
  removeFolders,
  startStandalone,
  temporaryFolder,
} from "../support/processes.ts";
import { isLong } from "../support/runs.ts";
import { smallSources } from "../support/small-sources.ts";

const deadlineMs = 2_000;
/** Each override starts a run, and every pod loads what it made. */
const names = isLong ? ["RIPE", "RIPE NCC", "R"] : ["RIPE"];
const overrides = isLong ? 5 : 3;

interface World {
  readonly url: string;
  readonly key: string;
  readonly operatorUrl: string;
  /** Runs a command line on its control data. */
  run(...args: string[]): Promise<Ended>;
  stop(): Promise<unknown>;
}

/** A server of a registry's file, which can be told to leave its callers waiting. */
class RegistryServer {
  isSlow = false;
  readonly waiting: ServerResponse[] = [];
  readonly #server = createServer((_request, response) => {
    if (this.isSlow) this.waiting.push(response);
    else response.end("2|arin|20261121|1|19930901|20261120|+0000\narin|*|ipv4|*|1|summary\narin|US|ipv4|192.0.2.0|256|19930901|assigned\n");
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/arin`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function sourcesWithNames(registry: string): string {
  const sources = smallSources(temporaryFolder(), "NL");
  const names = Array.from({ length: 50 }, (_, at) => `${at + 1}\tNAME-${at + 1}\n`);
  writeFileSync(join(dirname(sources), "names"), `3333\tRIPE-NCC-AS\n${names.join("")}`);
  writeFileSync(
    sources,
    `sources:
  - {name: ripencc, section: allocations, format: delegated, location: ripencc.txt}
  - {name: arin, section: allocations, format: delegated, location: "${registry}", allow_private: true, required: false}
  - {name: names, section: as_names, format: name-list, location: names}
`,
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
    replicas: { "ip-routing": 0, "asn-prefix": 2, "rdns-resolver": 0, ingest: 1 },
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

interface Scene {
  readonly registry: RegistryServer;
  readonly sources: string;
  readonly world: World;
}

const scenes = new Map<typeof asServices, Scene>();
const registries: RegistryServer[] = [];

// Side by side, because each waits for its programs.
beforeAll(async () => {
  const start = async (form: typeof asServices): Promise<void> => {
    const registry = new RegistryServer();
    registries.push(registry);
    const sources = sourcesWithNames(await registry.start());
    scenes.set(form, { registry, sources, world: await form(sources) });
  };
  const starts = [inOneProcess, asServices].map(start);
  // If one fails, the other must be over before it is stopped.
  await Promise.allSettled(starts);
  await Promise.all(starts);
});

afterAll(async () => {
  for (const registry of registries) registry.stop();
  await Promise.all(Array.from(scenes.values(), ({ world }) => world.stop()));
  await endAll();
  removeFolders();
});

describe.each([
  ["in one process", inOneProcess],
  ["as services", asServices],
])("%s", (_form, start) => {
  let registry: RegistryServer;
  let sources: string;
  let world: World;
  let admin: (method: string, path: string, body?: object) => ReturnType<typeof request>;
  beforeAll(async () => {
    ({ registry, sources, world } = scenes.get(start) as Scene);
    const { code, out } = await world.run("keys", "create", "--label", "operator", "--scopes", "admin", "--json");
    expect(code).toBe(0);
    const { secret } = JSON.parse(out) as { secret: string };
    admin = (method, path, body) => {
      const content = body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      return request(`${world.operatorUrl}/admin/v1${path}`, { key: secret, method, ...content });
    };
  });

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
    for (const name of names) {
      const said = ["--name", name, "--organisation", "Org, Ltd", "--website", "https://ripe.example/", "--network-type", "ix", "isp"];
      delays.push(
        await delayOf({ name, organisation: "Org, Ltd", website: "https://ripe.example/", types }, "override", "AS3333", ...said),
      );
    }
    delays.push(await delayOf({ ...sourced, name: null }, "override", "AS3333", "--name", "-"));
    delays.push(await delayOf(sourced, "delete", "AS3333"));
    console.log(`ms from command to answer: ${delays.map(Math.round).join(", ")}`);
    // A thread is started and every pod reports for each of them: one that another program delays is no miss.
    expect(median(delays)).toBeLessThan(deadlineMs);
    expect(Math.max(...delays)).toBeLessThan(2 * deadlineMs);
  });

  test("an override by the operators' API is answered, found, and gone after its deletion", async () => {
    const override = { name: "By HTTP", organisation: "Org, “Ltd”", network_types: ["ix"] };
    expect(await admin("PUT", "/profiles/AS3333", override)).toMatchObject({ status: 201 });
    const delays = [await delayUntil({ ...sourced, name: "By HTTP", organisation: "Org, “Ltd”", types: ["ix operator:overrides"] })];
    expect((await admin("GET", "/profiles?q=by%20http")).json).toMatchObject({ items: [{ asn: 3333, override }], next_cursor: null });
    // What sources say is kept beside everything else, after the run that read it.
    const others = [{ value: "RIPE-NCC-AS", source: "names" }];
    const field = async () => ((await admin("GET", "/profiles/AS3333")).json as { fields: { others: object[] }[] }).fields[0];
    for (let tries = 0; tries < 100 && (await field())?.others.length === 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await field()).toMatchObject({ field: "name", value: "By HTTP", source: "override", others });
    expect((await admin("GET", "/profiles?source=names&q=as3333")).json).toMatchObject({
      items: [{ asn: 3333, override }],
      next_cursor: null,
    });
    expect(await admin("DELETE", "/profiles/AS3333")).toMatchObject({ status: 204 });
    delays.push(await delayUntil(sourced));
    console.log(`ms from request to answer: ${delays.map(Math.round).join(", ")}`);
    expect(Math.max(...delays)).toBeLessThan(2 * deadlineMs);
  });

  test("of several overrides during an import that waits for a server, most are answered within two seconds", async () => {
    registry.isSlow = true;
    let started = await admin("POST", "/ingest/runs");
    // A run of overrides that were made before may be in progress.
    await until(async () => {
      if (started.status === 409) started = await admin("POST", "/ingest/runs");
      return started.status === 202;
    });
    const { id } = started.json as { id: string };
    await until(() => registry.waiting.length > 0);
    const delays: number[] = [];
    for (let at = 0; at < overrides; at++) {
      const name = `DURING ${at}`;
      expect((await admin("PUT", "/profiles/AS3333", { name })).status).toBe(at === 0 ? 201 : 200);
      delays.push(await delayUntil({ ...sourced, name }));
    }
    expect((await admin("GET", `/ingest/runs/${id}`)).json).toMatchObject({ state: "running" });
    console.log(`ms from request to answer during an import: ${delays.map(Math.round).join(", ")}`);
    expect(median(delays)).toBeLessThan(deadlineMs);
    expect(Math.max(...delays)).toBeLessThan(10 * deadlineMs);

    registry.isSlow = false;
    for (const response of registry.waiting.splice(0)) response.end("2|arin|20261122|0|19930901|20261120|+0000\narin|*|ipv4|*|0|summary\n");
    await until(async () => ((await admin("GET", `/ingest/runs/${id}`)).json as { state: string }).state !== "running");
    expect((await admin("GET", `/ingest/runs/${id}`)).json).toMatchObject({ state: "succeeded" });
    expect(await profile()).toMatchObject({ name: `DURING ${overrides - 1}` });
    expect((await admin("DELETE", "/profiles/AS3333")).status).toBe(204);
    await delayUntil(sourced);
  });

  if (start === inOneProcess)
    test("an import by the command line keeps overrides", async () => {
      await delayOf({ ...sourced, name: "KEPT" }, "override", "AS3333", "--name", "KEPT");
      expect(await world.run("ingest", "run", "--sources", sources)).toMatchObject({ code: 0 });
      expect(await profile()).toMatchObject({ name: "KEPT" });
    });
});
