/** A store of snapshots that loses everything while a source is unusable: what served is put back, and no section is lost. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { connectJetStreamStore, jetStreamSource } from "@netfacts/pod/jetstream";
import { openFolderStore } from "@netfacts/snapshot";
import { until } from "../../../../test/support/http.ts";
import { startNatsServer } from "../../../../test/support/nats-server.ts";
import { delegatedFile, vrpFile } from "../support/made-files.ts";
import { startedRun, startService } from "../support/service.ts";

test("JetStream that was wiped while a source is missing gets the same snapshot back, and the next run keeps its sections", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const storeDir = join(folder, "nats");
  let nats = await startNatsServer({ jetstream: true, storeDir });
  const { port } = nats;
  writeFileSync(join(folder, "ripe"), delegatedFile());
  writeFileSync(join(folder, "vrps"), vrpFile());
  writeFileSync(
    join(folder, "sources.yaml"),
    `sources:
  - {name: ripe, section: allocations, format: delegated, location: ripe}
  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps, required: false}
`,
  );
  const source = { bucket: "copied", connection: { servers: nats.url, name: "test" } };
  const { store, close } = await connectJetStreamStore(source);
  const service = await startService({
    folder: join(folder, "home"),
    sources: join(folder, "sources.yaml"),
    deps: (deps) => ({ ...deps, snapshots: store, snapshotSource: jetStreamSource(source) }),
  });
  try {
    const active = () =>
      store.pointer().then(
        (pointer) => pointer?.active ?? null,
        () => null,
      );
    await until(async () => (await active()) !== null, { timeoutMs: 30_000 });
    const before = await store.getManifest((await active()) as string);
    expect(Object.keys(before.sections)).toEqual(["vrps", "allocations"]);
    const copy = openFolderStore(join(folder, "home", "ingest", "serving"));
    await until(async () => (await copy.currentId()) === before.id, { timeoutMs: 10_000 });

    rmSync(join(folder, "vrps"));
    await nats.kill();
    rmSync(storeDir, { recursive: true });
    nats = await startNatsServer({ jetstream: true, storeDir, port });
    const restarted = performance.now();
    await until(async () => (await active()) !== null, { timeoutMs: 30_000 });
    expect(performance.now() - restarted).toBeLessThan(10_000);
    expect(await store.getManifest((await active()) as string)).toEqual(before);

    const run = await service.ended(await startedRun(service));
    expect(run.state).toBe("succeeded");
    const after = await store.getManifest((await active()) as string);
    expect(after.sections.vrps?.object).toBe(before.sections.vrps?.object);
  } finally {
    await service.stop();
    await close();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 90_000);
