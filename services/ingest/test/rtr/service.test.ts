/**
 * The service with an RTR source: a change of the cache is published alone, pods swap only that, and data that are given up go.
 *
 * @large It makes whole runs, each in a thread.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { makePrefix } from "@netfacts/address";
import { encodeQuestion } from "@netfacts/contracts";
import { recordHandler } from "@netfacts/records";
import { LoaderThreads, SnapshotFollower, snapshotsFolder } from "@netfacts/snapshot";
import { ribFile } from "../support/made-files.ts";
import { bytesOf, type ScriptedCache, startScriptedCache } from "../support/scripted-cache.ts";
import { type ServiceHarness, startService } from "../support/service.ts";

/** A machine that is busy; what is waited for is looked at all the time. */
const timeoutMs = 120_000;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface Pod {
  /** `rpki.state` of the answer, with its warnings. */
  validity(): { state: string | null; warnings: string[] } | null;
  objects(): Record<string, string>;
  /** Resolves when the answer is this. */
  answers(state: string | null): Promise<void>;
  readonly swaps: string[];
}

async function begin(cache: ScriptedCache): Promise<{ service: ServiceHarness; pod: Pod; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-rtr-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "rib"), ribFile());
  const sources = join(folder, "sources.yaml");
  writeFileSync(
    sources,
    `full_feed_min: {ipv4: 1, ipv6: 1}
sources:
  - {name: rib, section: routes, format: mrt, location: rib, stale_after: never}
  - {name: rpki, section: vrps, format: rtr, location: "${cache.url}", shrink_max: 100%}
`,
  );
  const service = await startService({ sources, scheduled: true });
  stops.push(() => service.stop());
  const swaps: string[] = [];
  const follower = new SnapshotFollower(
    service.snapshots,
    new LoaderThreads({ kind: "folder", path: join(service.folder, snapshotsFolder) }),
    { activated: ({ id }) => void swaps.push(id) },
  );
  stops.push(() => follower.stop());
  await follower.start();
  const answer = recordHandler("validity");
  const pod: Pod = {
    swaps,
    validity() {
      const generation = follower.current();
      if (generation === null) return null;
      const query = encodeQuestion("validity", { asn: 9, prefix: makePrefix(4, 0x0b00_0500, 0, 0, 0, 24) });
      const { body } = answer({ query, requestId: "x" }, { generation, nowMs: Date.now() });
      const { rpki, meta } = JSON.parse(Buffer.from(body).toString("utf8"));
      return { state: rpki.state, warnings: meta.warnings.map(({ code }: { code: string }) => code) };
    },
    objects: () =>
      Object.fromEntries(Object.entries(follower.current()?.manifest.sections ?? {}).map(([name, { object }]) => [name, object])),
    async answers(state) {
      while (pod.validity()?.state !== state) await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
  return { service, pod, folder };
}

const right = ["11.0.5.0/24-24 9", "11.0.6.0/24-24 9"];
const wrong = ["11.0.5.0/24-24 8", "11.0.6.0/24-24 9"];

test(
  "a change that the cache notifies is published alone: the routes' object stays, and the pod's answer changes",
  async () => {
    const cache = await startScriptedCache(right);
    stops.push(() => cache.stop());
    const { service, pod } = await begin(cache);
    await pod.answers("valid");
    const before = pod.objects();
    // The session's first data may still be on their way, as a run of their own.
    await cache.hears("reset-query", 1);
    cache.set(wrong, true);
    await pod.answers("invalid");
    const after = pod.objects();
    expect(after.routes).toBe(before.routes);
    expect(after.vrps).not.toBe(before.vrps);
    expect(service.log).toContainEqual(
      expect.objectContaining({ message: "run started", fields: expect.objectContaining({ started_by: "schedule", sections: ["vrps"] }) }),
    );
    expect(service.log).toContainEqual(
      expect.objectContaining({
        message: "VRPs changed",
        fields: expect.objectContaining({ source: "rpki", cache: cache.url, serial: 2, added: 1, withdrawn: 1, vrps: 2 }),
      }),
    );
    const { json } = await service.ask("GET", "/admin/v1/ingest/sources");
    expect(json.items[1]).toMatchObject({ name: "rpki", format: "rtr", state: "read", accepted: 2, stale: false });
    expect(json.items[1].schedule.url).toBe(cache.url);
  },
  timeoutMs,
);

test(
  "data that are given up are withdrawn: validity is unknown, not not-found, until a cache answers",
  async () => {
    const cache = await startScriptedCache(right);
    stops.push(() => cache.stop());
    const { pod, service } = await begin(cache);
    await pod.answers("valid");
    await cache.hears("reset-query", 1);
    let isSilent = false;
    // Another session without a new beginning: all that was learned goes at once (RFC 8210 §5.1).
    cache.answer = (query, socket) => {
      if (query.kind === "serial-query") socket.write(bytesOf({ kind: "cache-response", version: 1, sessionId: 1 }));
      else if (isSilent) return "as usual";
      else socket.destroy();
      return undefined;
    };
    cache.set(wrong, true);
    await pod.answers(null);
    expect(pod.validity()).toEqual({ state: null, warnings: ["vrps_unavailable"] });
    expect(Object.keys(pod.objects())).toEqual(["routes"]);
    expect(service.log).toContainEqual(
      expect.objectContaining({ level: "error", message: expect.stringContaining("RPKI data discarded") }),
    );
    // Nothing was wrong with what was withdrawn.
    expect(service.log.filter(({ message }) => message.startsWith("a version of a source cannot be used"))).toEqual([]);
    const { json } = await service.ask("GET", "/admin/v1/ingest/sources");
    expect(json.items[1]).toMatchObject({ name: "rpki", state: "failed", schedule: { sha256: null } });
    isSilent = true;
    await pod.answers("invalid");
  },
  timeoutMs,
);

test(
  "the list of sources says why no cache is synchronised, while their data are still in use",
  async () => {
    const cache = await startScriptedCache(right);
    stops.push(() => cache.stop());
    const { pod, service } = await begin(cache);
    await pod.answers("valid");
    await cache.hears("reset-query", 1);
    const source = async () => (await service.ask("GET", "/admin/v1/ingest/sources")).json.items[1];
    while ((await source()).schedule.url === null) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await source()).toMatchObject({ state: "read", error: null, schedule: { error: null, failures: 0 } });
    await cache.down();
    const isReported = async () => (await source()).error?.includes("ECONNREFUSED") === true;
    while (!(await isReported())) await new Promise((resolve) => setTimeout(resolve, 20));
    const error = expect.stringContaining(`${cache.url}: connect ECONNREFUSED`);
    expect(await source()).toMatchObject({ state: "kept", error, schedule: { error } });
    expect((await source()).schedule.failures).toBeGreaterThan(0);
    expect(pod.validity()?.state).toBe("valid");
    await cache.listen();
    while ((await source()).error !== null) await new Promise((resolve) => setTimeout(resolve, 20));
  },
  timeoutMs,
);

test(
  "sessions follow the list of sources, and end with the service",
  async () => {
    const [first, second] = [await startScriptedCache(right), await startScriptedCache(wrong)];
    stops.push(() => first.stop());
    stops.push(() => second.stop());
    const { pod, folder, service } = await begin(first);
    await pod.answers("valid");
    await first.hears("reset-query", 1);
    const list = join(folder, "sources.yaml");
    const { readFileSync } = await import("node:fs");
    writeFileSync(list, readFileSync(list, "utf8").replace(first.url, second.url));
    // The list is read again at every look; a change of the first cache makes one.
    first.set([...right, "11.0.7.0/24-24 9"], true);
    await pod.answers("invalid");
    while (first.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(second.open.size).toBe(1);
    await service.app.stop();
    while (second.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  },
  timeoutMs,
);
