/** What the operator API answers when nobody leads, and when the store is away. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { SnapshotError, SnapshotUnavailableError } from "@netfacts/snapshot";
import { StoreError } from "@netfacts/storage";
import { provokes } from "../support/provokes.ts";
import { runsPath, type ServiceHarness, startService } from "../support/service.ts";

const gone = "http://127.0.0.1:9#gone";

let follower: ServiceHarness;
beforeAll(async () => {
  // Its lease is held by a name at which nobody listens.
  follower = await startService({
    deps(deps) {
      const { leases } = deps.store;
      const acquire: typeof leases.acquire = async (name, _owner, ttlMs) => {
        const { lease } = await leases.acquire(name, gone, ttlMs);
        return { outcome: "taken", lease };
      };
      return { ...deps, store: { ...deps.store, leases: { ...leases, acquire } } };
    },
  });
});
afterAll(() => follower.stop());

provokes("upstream_unavailable", "the leader cannot be reached", () => follower.ask("POST", runsPath));
provokes("upstream_unavailable", "nobody leads", async () => {
  await follower.store.leases.release("ingest", gone);
  return follower.ask("POST", runsPath);
});
provokes("upstream_unavailable", "a request that was handed on is not handed on again", () =>
  follower.ask("POST", runsPath, { headers: { "x-netfacts-handed-on": "1" } }),
);

test("who does not lead still tells runs and sources", async () => {
  expect((await follower.ask("GET", runsPath)).json).toEqual({ items: [] });
  expect((await follower.ask("GET", "/admin/v1/ingest/sources")).json).toMatchObject({
    items: [{ name: "ripencc", state: "unknown" }],
    faults: [],
  });
});

test("who does not lead still tells kept snapshots, and that pods are unknown", async () => {
  expect((await follower.ask("GET", "/admin/v1/ingest/snapshots")).json).toEqual({ items: [], pods: null });
});

const snapshotsFailingWith = async (error: Error, told: string) => {
  const failing = await startService({
    deps: (deps) => ({ ...deps, snapshots: { ...deps.snapshots, list: () => Promise.reject(error) } }),
  });
  const answer = await failing.ask("GET", "/admin/v1/ingest/snapshots");
  await failing.stop();
  expect(answer.body).not.toContain("secret-host");
  expect(answer.body).toContain(told);
  return answer;
};

provokes("upstream_unavailable", "the store of snapshots is away, and the answer says nothing of where it is", () =>
  snapshotsFailingWith(new SnapshotUnavailableError("secret-host is away"), "does not answer"),
);
provokes("upstream_unavailable", "the store of snapshots is damaged", () =>
  snapshotsFailingWith(new SnapshotError("secret-host is damaged"), "is damaged in their store"),
);

const failingWith = async (error: Error) => {
  const failing = await startService({
    deps: (deps) => ({ ...deps, store: { ...deps.store, runs: { ...deps.store.runs, list: () => Promise.reject(error) } } }),
  });
  const answer = await failing.ask("GET", runsPath);
  await failing.stop();
  expect(answer.body).not.toContain("secret-host");
  return answer;
};

provokes("upstream_unavailable", "the store is away, and the answer says nothing of where it is", () =>
  failingWith(new StoreError("unavailable", "secret-host", "is away")),
);
provokes("upstream_unavailable", "the disk of the store is full, and the answer says so", async () => {
  const answer = await failingWith(new StoreError("full", "secret-host", "refuses"));
  expect(answer.body).toContain("disk of a store of ingest is full");
  return answer;
});
for (const fault of ["readonly", "closed"] as const)
  provokes("upstream_unavailable", `the store is ${fault}`, () => failingWith(new StoreError(fault, "secret-host", "refuses")));
provokes("internal_error", "a fault of ours, of which the answer says nothing", () => failingWith(new Error("secret-host")));
provokes("internal_error", "JSON of the store that cannot be read, which is no fault of the request", () =>
  failingWith(new SyntaxError("secret-host")),
);
