/** Loading in a worker, and following a folder's pointer: what serves stays until something whole is there to replace it. */

import { readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { formatPrefix, type Prefix } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";
import fc from "../../../test/support/properties.ts";
import { edgesOf, ipv4Prefix } from "../../prefix-trie/test/arbitraries.ts";
import {
  Generation,
  type Ipv4IndexForm,
  LoaderThreads,
  loadSnapshot,
  openFolderStore,
  SnapshotError,
  SnapshotFollower,
} from "../src/index.ts";
import { BackgroundLoader } from "../src/loader.ts";
import { collectGarbage } from "../src/released-memory.ts";
import { numbered, publishNumber, until } from "./store/contract.ts";
import { loadInThread } from "./support/load-in-thread.ts";
import { madeAllocations, madeNames, madeProfiles, madeRoutes, madeVrps } from "./support/made-sections.ts";
import { inFolder, publishMade } from "./support/made-snapshot.ts";
import { address } from "./support/text.ts";

async function flip(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
  await writeFile(path, bytes);
}

const nameOf = (generation: Generation | null): string | null => generation?.names?.lookupName(1) ?? null;

const followers: SnapshotFollower[] = [];
afterEach(() => {
  for (const follower of followers.splice(0)) follower.stop();
});

/** A follower with a diary. */
function followed(folder: string) {
  const store = openFolderStore(folder);
  const diary: string[] = [];
  const follower = new SnapshotFollower(store, new LoaderThreads({ kind: "folder", path: folder }), {
    activated: (generation) => diary.push(`activated ${nameOf(generation)}`),
    refused: (_id, error) => diary.push(`refused ${error.name}`),
  });
  return { store, diary, follower };
}

describe("loading in a worker", () => {
  test("gives the tables that loading in this thread gives, in shared memory", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const vrps = madeVrps([{ prefix: "192.0.2.0/24", asn: 64500 }]);
      const allocations = madeAllocations([{ start: "192.0.2.0", end: "192.0.2.255" }]);
      const manifest = await publishMade(store, { ...numbered(1), vrps, allocations });
      const here = await loadSnapshot(store, manifest);
      const there = await loadInThread({ kind: "folder", path: folder }, manifest.id);
      expect(there.manifest).toEqual(manifest);
      expect(Object.keys(there.sections)).toEqual(Object.keys(here.sections));
      for (const [name, section] of Object.entries(there.sections)) {
        expect(Object.prototype.toString.call(section.bytes.buffer)).toBe("[object SharedArrayBuffer]");
        expect(Buffer.compare(section.bytes, here.sections[name as keyof typeof here.sections]?.bytes as Uint8Array)).toBe(0);
      }
    });
  });

  test("asks nobody for a manifest that it was given", async () => {
    await inFolder(async (folder) => {
      const manifest = await publishNumber(openFolderStore(folder), 1);
      await unlink(join(folder, "manifests", `${manifest.id}.json`));
      const loaded = await loadInThread({ kind: "folder", path: folder }, manifest.id, { manifest });
      expect(loaded.manifest).toEqual(manifest);
      await expect(loadInThread({ kind: "folder", path: folder }, manifest.id)).rejects.toThrow(/no snapshot/);
    });
  });

  test("takes unchanged sections over: the same memory, not a copy", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const first = await publishNumber(store, 1);
      const loaded = await loadInThread({ kind: "folder", path: folder }, first.id);
      const second = await publishNumber(store, 2);
      // Gone from the folder, so nothing but memory can give it.
      await unlink(join(folder, "objects", first.sections.routes?.object as string));
      const next = await loadInThread({ kind: "folder", path: folder }, second.id, { reuse: [loaded] });
      const [before, after] = [loaded.sections.routes?.bytes as Uint8Array, next.sections.routes?.bytes as Uint8Array];
      before[0] = 77;
      expect(after[0]).toBe(77);
      expect(next.sections.as_names?.bytes).not.toEqual(loaded.sections.as_names?.bytes);
    });
  });

  test("builds the form of the IPv4 index that is asked for, which changes no answer", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const prefixes = fc.sample(fc.uniqueArray(ipv4Prefix, { selector: formatPrefix, minLength: 300, maxLength: 300 }), {
        seed: 4632,
        numRuns: 1,
      })[0] as Prefix[];
      const routes = madeRoutes(prefixes.map((prefix) => ({ prefix, origins: [{ origin: 64500, full: 1 }] })));
      const { id } = await publishMade(store, { ...numbered(1), routes });
      const followed = async (ipv4Index: Ipv4IndexForm) => {
        const follower = new SnapshotFollower(store, new LoaderThreads({ kind: "folder", path: folder }), {}, { ipv4Index });
        followers.push(follower);
        await follower.start();
        return follower.current()?.routes?.prefixes.base as PrefixTrie;
      };
      const [auto, direct, compact] = [await followed("auto"), await followed("direct"), await followed("compact")];
      expect([auto, direct, compact].map(({ parts }) => parts.ipv4.form)).toEqual(["compact", "direct", "compact"]);
      const here = await loadSnapshot(store, await store.getManifest(id), { ipv4Index: "direct" });
      expect(here.sections.routes?.trie?.ipv4.form).toBe("direct");
      expect(here.sections.as_names?.trie).toBeNull();
      const edges = prefixes.flatMap((prefix) => edgesOf(prefix));
      expect(edges.map((edge) => direct.longest(edge))).toEqual(edges.map((edge) => compact.longest(edge)));
      expect(prefixes.map((prefix) => direct.covering(prefix))).toEqual(prefixes.map((prefix) => compact.covering(prefix)));
    });
  });

  test("the words of a table that changed a little are those of one that is loaded alone", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const names = Object.fromEntries(Array.from({ length: 100 }, (_, asn) => [asn + 1, `NAME-${asn} Réseau ${asn % 7}`]));
      const profiles = Object.fromEntries(Array.from({ length: 100 }, (_, asn) => [asn + 1, { organisation: `Org ${asn % 9}` }]));
      const publish = async () => publishMade(store, { names: madeNames(names), profiles: madeProfiles(profiles) });
      const source = { kind: "folder", path: folder } as const;
      const first = await loadInThread(source, (await publish()).id, { words: true });
      names[5] = "Another";
      profiles[1] = { organisation: "New Org" };
      const { id } = await publish();
      const changed = await loadInThread(source, id, { words: true, reuse: [first] });
      const alone = await loadInThread(source, id, { words: true });
      for (const name of ["as_names", "profiles"] as const) {
        expect(changed.sections[name]?.words).toEqual(alone.sections[name]?.words);
        expect(changed.sections[name]?.words).not.toEqual(first.sections[name]?.words);
      }
    });
  });

  test("refuses what is missing or damaged, in words", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const { id, sections } = await publishNumber(store, 1);
      await expect(loadInThread({ kind: "folder", path: folder }, "20260101T000000Z-00000000")).rejects.toThrow(SnapshotError);
      await flip(join(folder, "objects", sections.as_names?.object as string));
      await expect(loadInThread({ kind: "folder", path: folder }, id)).rejects.toThrow(/section as_names: .*damaged/);
    });
  });
});

describe("loading in the background", () => {
  test("goes on after a refusal, and after its thread ended because nothing was to be loaded", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const first = await publishNumber(store, 1);
      const second = await publishNumber(store, 2);
      await flip(join(folder, "objects", second.sections.as_names?.object as string));
      const loader = new BackgroundLoader({ kind: "folder", path: folder }, 100);
      const numberOf = async (id: string) => nameOf(Generation.of(await loader.load(id)));
      expect(await numberOf(first.id)).toBe("NUMBER-1");
      await expect(loader.load(second.id)).rejects.toThrow(/section as_names: .*damaged/);
      expect(await numberOf(first.id)).toBe("NUMBER-1");
      await sleep(300);
      expect(await numberOf(first.id)).toBe("NUMBER-1");
    });
  });

  test("keeps nothing of what it has loaded", async () => {
    await inFolder(async (folder) => {
      const mib = 32;
      const names = Object.fromEntries(Array.from({ length: 64 * mib }, (_, asn) => [asn + 1, `${asn} `.padEnd(16_384, "x")]));
      const { id, sections } = await publishMade(openFolderStore(folder), { names: madeNames(names) });
      expect(sections.as_names?.bytes).toBeGreaterThan(mib * 2 ** 20);
      const loader = new BackgroundLoader({ kind: "folder", path: folder });
      const rssMib = async () => {
        await loader.load(id);
        await collectGarbage();
        return process.memoryUsage.rss() / 2 ** 20;
      };
      const before = await rssMib();
      let after = before;
      for (let load = 0; load < 8; load++) after = await rssMib();
      expect(after - before).toBeLessThan(4 * mib);
    });
  });
});

describe("a follower", () => {
  test("has nothing before the first snapshot, and serves it once it is published", async () => {
    await inFolder(async (folder) => {
      const { store, follower, diary } = followed(folder);
      await follower.start();
      expect(follower.current()).toBeNull();
      await publishNumber(store, 1);
      await until(() => follower.current() !== null);
      follower.stop();
      expect(diary).toEqual(["activated NUMBER-1"]);
    });
  });

  test("swaps to each new snapshot, and an answer that holds the old one goes on with it", async () => {
    await inFolder(async (folder) => {
      const { store, follower, diary } = followed(folder);
      await publishNumber(store, 1);
      await follower.start();
      const held = follower.current() as Generation;
      await publishNumber(store, 2);
      await until(() => nameOf(follower.current()) === "NUMBER-2");
      follower.stop();
      expect(nameOf(held)).toBe("NUMBER-1");
      expect(held.routes?.prefixes.longest(address("192.0.2.1"))).toBe(0);
      expect(diary).toEqual(["activated NUMBER-1", "activated NUMBER-2"]);
    });
  });

  test("refuses a damaged snapshot while the old one serves, and takes the next good one", async () => {
    await inFolder(async (folder) => {
      const { store, follower, diary } = followed(folder);
      await publishNumber(store, 1);
      await follower.start();
      const { id, sections } = await publishNumber(openFolderStore(join(folder, "aside")), 2);
      // The manifest of 2 with its names damaged, published by hand.
      for (const name of await readdir(join(folder, "aside", "objects")))
        await writeFile(join(folder, "objects", name), await readFile(join(folder, "aside", "objects", name)));
      await flip(join(folder, "objects", sections.as_names?.object as string));
      await writeFile(join(folder, "manifests", `${id}.json`), await readFile(join(folder, "aside", "manifests", `${id}.json`)));
      await writeFile(join(folder, "current"), `${id}\n`);
      await until(() => diary.length > 1);
      expect(nameOf(follower.current())).toBe("NUMBER-1");
      await publishNumber(store, 3);
      await until(() => nameOf(follower.current()) === "NUMBER-3");
      follower.stop();
      expect(diary).toEqual(["activated NUMBER-1", "refused SnapshotError", "activated NUMBER-3"]);
    });
  });

  test("starts with the newest kept snapshot that is whole when the current one is damaged", async () => {
    await inFolder(async (folder) => {
      const { store, follower, diary } = followed(folder);
      await publishNumber(store, 1);
      for (const number of [2, 3]) {
        const { sections } = await publishNumber(store, number);
        await flip(join(folder, "objects", sections.as_names?.object as string));
      }
      await follower.start();
      follower.stop();
      expect(nameOf(follower.current())).toBe("NUMBER-1");
      expect(diary).toEqual(["refused SnapshotError", "refused SnapshotError", "activated NUMBER-1"]);
    });
  });

  test("is not ready when no kept snapshot is whole, and recovers when one is published", async () => {
    await inFolder(async (folder) => {
      const { store, follower } = followed(folder);
      const { sections } = await publishNumber(store, 1);
      await flip(join(folder, "objects", sections.routes?.object as string));
      await follower.start();
      expect(follower.current()).toBeNull();
      await publishNumber(store, 2);
      await until(() => nameOf(follower.current()) === "NUMBER-2");
      follower.stop();
    });
  });
});
