/** Refusals of the operator API, and that a refused request starts nothing. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { internalHeaders } from "@netfacts/contracts";
import type { StoreSource } from "@netfacts/snapshot";
import { atGate, gatedSource, openGate } from "../support/gated-store.ts";
import { expectProblem, provokes } from "../support/provokes.ts";
import { proxyToken, runsPath, type ServiceHarness, startedRun, startService } from "../support/service.ts";

let service: ServiceHarness;
beforeAll(async () => {
  service = await startService();
  await service.ended(await startedRun(service));
});
afterAll(() => service.stop());

const rollBack = async (snapshot: string | null) =>
  service.ask("POST", "/admin/v1/ingest/rollbacks", {
    body: JSON.stringify({ snapshot, replaces: await service.snapshots.currentId() }),
    headers: { "content-type": "application/json" },
  });

describe("400", () => {
  provokes("invalid_body", "a run takes no other body", () =>
    service.ask("POST", runsPath, { body: '{"sources":"other"}', headers: { "content-type": "application/json" } }),
  );
  provokes("invalid_body", "a section that there is not", () =>
    service.ask("POST", runsPath, { body: '{"accept_shrink":["vrp"]}', headers: { "content-type": "application/json" } }),
  );
  provokes("invalid_body", "a body that is no JSON", () =>
    service.ask("POST", runsPath, { body: "{", headers: { "content-type": "application/json" } }),
  );
  provokes("invalid_body", "a body of another type", () =>
    service.ask("POST", runsPath, { body: "x", headers: { "content-type": "text/csv" } }),
  );
  provokes("invalid_body", "a body of any length, and the answer arrives", () =>
    service.ask("POST", runsPath, { body: "x".repeat(900_000), headers: { "content-type": "application/json" } }),
  );
  provokes("invalid_parameter", "a limit that is none", () => service.ask("GET", `${runsPath}?limit=1e2`));
  provokes("invalid_parameter", "a limit above the bound", () => service.ask("GET", `${runsPath}?limit=101`));
  provokes("invalid_parameter", "two limits", () => service.ask("GET", `${runsPath}?limit=1&limit=2`));
  provokes("invalid_parameter", "a parameter of a route that has none", () =>
    service.ask("GET", "/admin/v1/ingest/snapshots?id=1&%3Cb%3E=2"),
  );
  provokes("invalid_parameter", "an unknown parameter", () => service.ask("POST", `${runsPath}?force=1`));
  test("one fault is told in the detail, with what is taken", async () => {
    expect((await service.ask("GET", `${runsPath}?limit=0`)).json.detail).toBe("query.limit must be a number from 1 to 100, given once.");
    expect((await service.ask("GET", `${runsPath}?colour=1`)).json.detail).toBe("query.colour is unknown; this route accepts limit.");
    expect((await service.ask("POST", `${runsPath}?force=1`)).json.detail).toBe("query.force is unknown; this route has no parameters.");
  });
  provokes("bad_request", "a path that cannot be decoded", () => service.ask("GET", `${runsPath}/%zz`));

  test.each(["{}", ""])("a run whose body is %j has none", async (body) => {
    const answer = await service.ask("POST", runsPath, { body, headers: { "content-type": "application/json" } });
    expect(answer.status).toBe(202);
    await service.ended(answer.json.id);
  });

  test("members that would change the prototype are refused", async () => {
    const body = '{"__proto__":{"accept_shrink":["vrps"]}}';
    expectProblem(await service.ask("POST", runsPath, { body, headers: { "content-type": "application/json" } }), "invalid_body");
  });
});

describe("401", () => {
  provokes("missing_api_key", "no proxy token", () => service.ask("GET", runsPath, { token: null }));
  provokes("invalid_api_key", "another proxy token", () => service.ask("GET", runsPath, { token: "x".repeat(36) }));
  provokes("invalid_api_key", "a part of it", () => service.ask("GET", runsPath, { token: proxyToken.slice(0, -1) }));
  provokes("missing_api_key", "also where nothing answers", () => service.ask("GET", "/nowhere", { token: null }));

  test("nothing is started without it", async () => {
    const before = (await service.store.runs.list(100)).length;
    expect((await service.ask("POST", runsPath, { token: null, headers: { [internalHeaders.keyId]: "7Q9M3W8K" } })).status).toBe(401);
    expect((await service.store.runs.list(100)).length).toBe(before);
  });
});

describe("404 and 405", () => {
  provokes("run_not_found", "an unknown run", () => service.ask("GET", `${runsPath}/20261121T000000Z-000000`));
  provokes("snapshot_not_found", "a rollback to a snapshot that is not kept", () => rollBack("20200101T000000Z-00000000"));
  provokes("route_not_found", "an unknown path", () => service.ask("GET", "/admin/v1/ingest/nothing"));
  provokes("method_not_allowed", "a run cannot be deleted", () => service.ask("DELETE", `${runsPath}/x`));

  test("method_not_allowed: names the methods that are", async () => {
    const answer = await service.ask("PUT", runsPath);
    expectProblem(answer, "method_not_allowed");
    expect(answer.headers.allow).toBe("GET, HEAD, POST");
  });
});

describe("409", () => {
  provokes("snapshot_conflict", "a rollback to the snapshot that is the current one", async () =>
    rollBack(await service.snapshots.currentId()),
  );

  let slow: ServiceHarness;
  let gate: string;
  beforeAll(async () => {
    gate = mkdtempSync(join(tmpdir(), "netfacts-gate-"));
    slow = await startService({ deps: (deps) => ({ ...deps, snapshotSource: gatedSource(pathOf(deps.snapshotSource), gate) }) });
    await atGate(gate);
  });
  afterAll(async () => {
    await slow.stop();
    rmSync(gate, { recursive: true });
  });

  provokes("run_in_progress", "one run at a time", () => slow.ask("POST", runsPath));

  test("the run in progress is told, and is not disturbed", async () => {
    const [run] = (await slow.ask("GET", runsPath)).json.items;
    expect(run).toMatchObject({ state: "running", started_by: "start", ended_at: null });
    expect(expectProblem(await slow.ask("POST", runsPath), "run_in_progress").detail).toContain(run.id);
    openGate(gate);
    expect(await slow.ended(run.id)).toMatchObject({ state: "succeeded" });
  });
});

function pathOf(source: StoreSource): string {
  if (source.kind !== "folder") throw new Error("no folder");
  return source.path;
}
