/** Snapshots in a folder: the contract, and what is true of folders alone: crashes, full disks, rights. */

import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { forkTestProgram } from "../../../../test/support/programs.ts";
import { encodeManifest, loadSnapshot, openFolderStore } from "../../src/index.ts";
import { askChild, endChild, runChild } from "../support/children.ts";
import { inFolder, madeManifest, publishMade } from "../support/made-snapshot.ts";
import { describeSnapshotStore, numbered, publishNumber, until } from "./contract.ts";

async function flip(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
  await writeFile(path, bytes);
}

describeSnapshotStore("a folder of snapshots", async () => {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-store-"));
  return {
    open: async (options) => openFolderStore(folder, options),
    elsewhere: async () => {
      const child = forkTestProgram("libs/snapshot/test/support/publisher-process.ts", [folder]);
      return { publish: (number) => askChild(child, number), stop: () => endChild(child) };
    },
    damage: (digest) => flip(join(folder, "objects", digest)),
    async makeNewer(id) {
      const path = join(folder, "manifests", `${id}.json`);
      await writeFile(path, (await readFile(path, "utf8")).replace('"format_version": 1', '"format_version": 2'));
    },
    damageManifest: (id) => flip(join(folder, "manifests", `${id}.json`)),
    remove: (digest) => unlink(join(folder, "objects", digest)),
    objects: () => readdir(join(folder, "objects")),
    close: () => rm(folder, { recursive: true, force: true }),
  };
});

test("what was read is freed when nobody refers to it, though the process does nothing else", async () => {
  await inFolder(async (folder) => {
    const content = Buffer.alloc(30_000_000, 7);
    await openFolderStore(folder).putObject(content);
    const digest = createHash("sha256").update(content).digest("hex");
    const child = forkTestProgram("libs/snapshot/test/support/reader-process.ts", [folder, digest, `${content.length}`]);
    try {
      expect(await once(child, "message")).toEqual([expect.stringMatching(/^freed [0-4]$/), undefined]);
    } finally {
      await endChild(child);
    }
  });
});

test("a folder that cannot be read is not taken for an empty one", async () => {
  await inFolder(async (folder) => {
    const store = openFolderStore(folder);
    await publishNumber(store, 1);
    const manifests = join(folder, "manifests");
    await rm(manifests, { recursive: true });
    await writeFile(manifests, "");
    for (const list of [store.list(), store.publications()]) await expect(list).rejects.toThrow(`${manifests}: ENOTDIR: not a directory`);
  });
});

describe("a folder after a crash", () => {
  test("temporary files that were left behind are no objects, and go with the next publication", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      await publishNumber(store, 1);
      const leftover = [".current.0a.tmp", "objects/.00ff.0a.tmp", "manifests/.20260101T000000Z-00000000.json.0a.tmp"];
      for (const name of leftover) await writeFile(join(folder, name), "half");
      expect(await store.currentId()).toBe(madeManifest(numbered(1)).id);
      expect(await store.list()).toHaveLength(1);
      await publishNumber(store, 2);
      const left = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".tmp"));
      expect(left).toEqual([]);
    });
  });

  test.each(["missing", "damaged"])(
    "a list of publications that is %s is made again of the manifests, by when they were written",
    async (what) => {
      await inFolder(async (folder) => {
        const store = openFolderStore(folder);
        const ids = [(await publishNumber(store, 1)).id, (await publishNumber(store, 2)).id];
        const before = await store.publications();
        if (what === "missing") await unlink(join(folder, "publications"));
        else await flip(join(folder, "publications"));
        expect((await store.publications()).map(({ id }) => id)).toEqual(ids);
        ids.push((await publishNumber(store, 3)).id);
        const after = await store.publications();
        expect(after.map(({ id }) => id)).toEqual(ids);
        for (const [index, { at }] of before.entries())
          expect(Math.abs(Date.parse(at) - Date.parse(after[index]?.at as string))).toBeLessThanOrEqual(5_000);
      });
    },
  );

  test("a manifest that no pointer names is not current, and the next run publishes as ever", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const first = await publishNumber(store, 1);
      const lost = madeManifest(numbered(2));
      await writeFile(join(folder, "manifests", `${lost.id}.json`), encodeManifest(lost));
      expect(await store.currentId()).toBe(first.id);
      expect(await store.list()).toEqual([first.id]);
      const third = await publishNumber(store, 3);
      expect(await store.list()).toEqual([first.id, third.id]);
      await expect(store.getManifest(lost.id)).rejects.toThrow("no snapshot");
    });
  });

  test("a crash between the list of kept manifests and the pointer leaves the old snapshot current and whole", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const first = await publishNumber(store, 1);
      const pointer = await readFile(join(folder, "current"));
      await publishNumber(store, 2);
      await writeFile(join(folder, "current"), pointer);
      expect(await store.currentId()).toBe(first.id);
      await expect(loadSnapshot(store, first)).resolves.toBeDefined();
      const second = await publishNumber(store, 2);
      expect(await store.currentId()).toBe(second.id);
      expect(await store.list()).toEqual([first.id, second.id]);
    });
  });

  test("a crash between the list of publications and the pointer leaves no publication that never was in service", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const first = await publishNumber(store, 1);
      const lists = await Promise.all(
        ["current", "history"].map(async (name) => [join(folder, name), await readFile(join(folder, name))] as const),
      );
      await publishNumber(store, 2);
      for (const [path, bytes] of lists) await writeFile(path, bytes);
      expect((await store.publications()).map(({ id }) => id)).toEqual([first.id]);
      const third = await publishNumber(store, 3);
      expect((await store.publications()).map(({ id }) => id)).toEqual([first.id, third.id]);
    });
  });

  test("a kept manifest that is damaged or gone does not stand in the way of publishing", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
      await writeFile(join(folder, "manifests", `${first.id}.json`), "{");
      await expect(store.getManifest(first.id)).rejects.toThrow(`${first.id}.json: the manifest is not JSON`);
      const third = await publishNumber(store, 3);
      expect(await store.currentId()).toBe(third.id);
      await unlink(join(folder, "manifests", `${second.id}.json`));
      const fourth = await publishNumber(store, 4);
      expect(await store.list()).toEqual([third.id, fourth.id]);
      await expect(loadSnapshot(store, third)).resolves.toBeDefined();
    });
  });

  test("nor does the manifest of another snapshot in its place", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
      await copyFile(join(folder, "manifests", `${second.id}.json`), join(folder, "manifests", `${first.id}.json`));
      await expect(store.getManifest(first.id)).rejects.toThrow(`${first.id}.json: contains the manifest of ${second.id}`);
      const third = await publishNumber(store, 3);
      expect(await store.currentId()).toBe(third.id);
      await expect(loadSnapshot(store, second)).resolves.toBeDefined();
    });
  });

  test.each<[string, (history: string) => string | null]>([
    ["empty", () => ""],
    ["rubbish", () => "rubbish\n"],
    ["away", () => null],
    ["cut", (history) => history.slice(0, 30)],
    ["of another id", (history) => history.replace(/[0-9a-f]\n/, "0\n").replace(/^2/, "1")],
    ["without its digest", (history) => history.replace(/sha256 .*\n/, "")],
  ])("what can be gone back to is listed and kept although the history is %s", async (_what, damage) => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const first = await publishNumber(store, 1);
      const second = await publishNumber(store, 2);
      const damaged = damage(await readFile(join(folder, "history"), "utf8"));
      if (damaged === null) await unlink(join(folder, "history"));
      else await writeFile(join(folder, "history"), damaged);
      expect(await store.list()).toEqual([first.id, second.id]);
      const third = await publishNumber(store, 3);
      expect(await store.list()).toEqual([first.id, second.id, third.id]);
      for (const manifest of [first, second]) await expect(loadSnapshot(store, manifest)).resolves.toBeDefined();
    });
  });

  test("a damaged pointer is told as damaged, without its raw bytes", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      await expect(store.getManifest("2026\u0007\u001b[31m")).rejects.toThrow(/"2026\\u0007\\u001b\[31m" is not a snapshot id: damaged/);
    });
  });

  test.each([["missing"], ["empty"]])("a pointer that is %s is what the history has last", async (what) => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
      await unlink(join(folder, "current"));
      if (what === "empty") await writeFile(join(folder, "current"), "");
      expect([await store.currentId(), await store.list()]).toEqual([second.id, [first.id, second.id]]);
      await publishMade(store, numbered(3), { replaces: second.id });
      expect(await store.list()).toEqual([first.id, second.id, madeManifest(numbered(3)).id]);
    });
  });

  test("a manifest under another's name is refused", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
      await writeFile(join(folder, "manifests", `${first.id}.json`), encodeManifest(second));
      await expect(store.getManifest(first.id)).rejects.toThrow(`contains the manifest of ${second.id}`);
    });
  });

  test("a pointer that is away for a while, or holds nothing, tells a watcher nothing", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const first = await publishNumber(store, 1);
      const seen: string[] = [];
      const watch = store.watch(({ published }) => seen.push(published));
      await until(() => seen.length > 0);
      for (const content of ["", `${first.id}\n`]) {
        await writeFile(join(folder, "current"), content);
        await new Promise((resolve) => setTimeout(resolve, 700));
      }
      watch.stop();
      expect(seen).toEqual([first.id]);
    });
  });
});

describe("a folder that cannot be written to", () => {
  // The limit on the size of a file is a failing write that needs no rights and no device: 8 blocks, where the object has more.
  test("a write that fails midway is told, and leaves nothing behind", async () => {
    await inFolder(async (folder) => {
      const store = openFolderStore(folder);
      const first = await publishNumber(store, 1);
      const before = await readdir(join(folder, "objects"));
      const answer = JSON.parse(await runChild("ulimit -f 8; $RUN", "put-object.ts", [folder, "1000000"])) as {
        code: string;
        message: string;
      };
      expect(answer.code).toBe("EFBIG");
      expect(answer.message).toContain(`'${join(folder, "objects")}/`);
      expect(await readdir(join(folder, "objects"))).toEqual(before);
      expect(await store.currentId()).toBe(first.id);
    });
  });

  test("a full disk is told by its code, and leaves nothing behind", async () => {
    await inFolder(async (folder) => {
      const line = 'mount -t tmpfs -o size=64k none "$2" 2>/dev/null || { echo none; exit; }; "$0" "$1" "$2" "$3"; ls "$2/objects" | wc -l';
      const text = await runChild(`unshare -Urm /bin/sh -c '${line}' "$0" "$@" 2>/dev/null || echo none`, "put-object.ts", [
        folder,
        "1000000",
      ]);
      if (text.startsWith("none")) return console.log("not run: a full disk needs user namespaces to mount one");
      const [answer, left] = text.trim().split("\n") as [string, string];
      expect((JSON.parse(answer) as { code: string }).code).toBe("ENOSPC");
      expect(Number(left)).toBe(0);
    });
  });

  test("a folder without the right to write is told by its code", async () => {
    await inFolder(async (folder) => {
      await publishNumber(openFolderStore(folder), 1);
      await chmod(folder, 0o755);
      await chmod(join(folder, "objects"), 0o555);
      // Root may write anywhere, so its child becomes nobody.
      const nobody = process.getuid?.() === 0 ? ["65534"] : [];
      const text = await runChild("$RUN", "put-object.ts", [folder, "10", ...nobody]);
      await chmod(join(folder, "objects"), 0o755);
      expect((JSON.parse(text) as { code: string }).code).toBe("EACCES");
    });
  });

  test("a file where a folder should be is told", async () => {
    await inFolder(async (folder) => {
      await mkdir(join(folder, "data"));
      await writeFile(join(folder, "data", "objects"), "");
      await expect(openFolderStore(join(folder, "data")).putObject(Buffer.of(1))).rejects.toThrow(/EEXIST|ENOTDIR/);
    });
  });
});
