/** Two phases at the follower: what is loaded waits, what is active serves, what served is kept for a while, what is refused shows. */

import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, jest, test } from "@jest/globals";
import { forkTestProgram } from "../../../test/support/programs.ts";
import {
  type DatasetHolder,
  type FollowerOptions,
  type Generation,
  isStale,
  LoaderThreads,
  type Manifest,
  openFolderStore,
  SnapshotFollower,
  type SnapshotPointer,
  type SnapshotStore,
  sealManifest,
} from "../src/index.ts";
import { numbered, publishNumber, until } from "./store/contract.ts";
import { endChild } from "./support/children.ts";
import { madeNames, madeRoutes, route } from "./support/made-sections.ts";
import { inFolder, madeManifest, publishMade } from "./support/made-snapshot.ts";

const followers: SnapshotFollower[] = [];
afterEach(() => {
  for (const follower of followers.splice(0)) follower.stop();
});

const nameOf = (generation: Generation | null): string | null => generation?.names?.lookupName(1) ?? null;

const hostRoutes = (count: number) => Array.from({ length: count }, (_, at) => route(`10.0.${at >> 8}.${at & 255}/32`, [64500, 3]));

/** A folder whose snapshots become active only when they are told to, as they do where several processes follow. */
function inPhases(folder: string) {
  const store = openFolderStore(folder);
  let pointer: SnapshotPointer | null = null;
  let listener: (pointer: SnapshotPointer) => void = () => undefined;
  const move = (next: SnapshotPointer) => {
    pointer = next;
    listener(next);
  };
  const phased: SnapshotStore = {
    ...store,
    pointer: async () => pointer,
    watch: (listen) => {
      listener = listen;
      return {
        look: async () => {
          if (pointer !== null) listen(pointer);
        },
        stop: () => undefined,
      };
    },
  };
  return {
    store: phased,
    publish: async (number: number, harm: (manifest: Manifest) => Promise<void> = async () => undefined) => {
      const manifest = await publishNumber(store, number);
      await harm(manifest);
      move({ published: manifest.id, active: pointer?.active ?? null });
      return manifest;
    },
    /** One that was published before, as a rollback does. */
    publishAgain: (id: string) => move({ published: id, active: pointer?.active ?? null }),
    activate: (id: string) => move({ published: (pointer as SnapshotPointer).published, active: id }),
  };
}

function follow(folder: string, store: SnapshotStore, options: FollowerOptions = {}) {
  const diary: string[] = [];
  const follower = new SnapshotFollower(
    store,
    new LoaderThreads({ kind: "folder", path: folder }),
    {
      prepared: (id) => diary.push(`prepared ${id}`),
      activated: (generation) => diary.push(`activated ${generation.id}`),
      refused: (id) => diary.push(`refused ${id}`),
    },
    options,
  );
  followers.push(follower);
  return { follower, diary };
}

test("loads what is published and goes on serving what is active, until that moves", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const { follower, diary } = follow(folder, place.store);
    const first = await place.publish(1);
    await follower.start();
    expect(follower.current()).toBeNull();
    expect(nameOf(follower.at(first.id) as Generation)).toBe("NUMBER-1");
    place.activate(first.id);
    expect(nameOf(follower.current())).toBe("NUMBER-1");

    const second = await place.publish(2);
    await until(() => diary.length === 3);
    expect(nameOf(follower.current())).toBe("NUMBER-1");
    expect(nameOf(follower.at(second.id) as Generation)).toBe("NUMBER-2");
    place.activate(second.id);
    expect(nameOf(follower.current())).toBe("NUMBER-2");
    expect(diary).toEqual([`prepared ${first.id}`, `activated ${first.id}`, `prepared ${second.id}`, `activated ${second.id}`]);
  });
});

test("one that is published again while it is still held is told as loaded at once, so that nobody waits for it", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const { follower, diary } = follow(folder, place.store);
    const first = await place.publish(1);
    await follower.start();
    place.activate(first.id);
    const second = await place.publish(2);
    await until(() => diary.includes(`prepared ${second.id}`));
    place.activate(second.id);
    diary.length = 0;
    place.publishAgain(first.id);
    expect([diary, follower.state()]).toEqual([
      [`prepared ${first.id}`],
      { serving: second.id, last: { id: first.id, outcome: "loaded", reason: null } },
    ]);
    place.activate(first.id);
    expect(nameOf(follower.current())).toBe("NUMBER-1");
  });
});

test("one that is published again and not activated for long is kept, without timers that find nothing to do", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const { follower, diary } = follow(folder, place.store, { keepMs: 50 });
    const first = await place.publish(1);
    await follower.start();
    place.activate(first.id);
    const second = await place.publish(2);
    await until(() => diary.includes(`prepared ${second.id}`));
    place.activate(second.id);
    place.publishAgain(first.id);
    await sleep(100);
    const timers = jest.spyOn(globalThis, "setTimeout");
    await sleep(200);
    const count = timers.mock.calls.length;
    timers.mockRestore();
    expect(count).toBe(0);
    place.activate(first.id);
    expect(nameOf(follower.current())).toBe("NUMBER-1");
  });
});

test("one that is active before it is loaded serves as soon as it is", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const first = await place.publish(1);
    place.activate(first.id);
    const { follower } = follow(folder, place.store);
    await follower.start();
    const second = await place.publish(2);
    place.activate(second.id);
    expect(nameOf(follower.current())).toBe("NUMBER-1");
    await until(() => nameOf(follower.current()) === "NUMBER-2");
  });
});

test("what was replaced stays for a while; then it is gone, as what is older is, and what is newer is still to come", async () => {
  await inFolder(async (folder) => {
    const store = openFolderStore(folder);
    const first = await publishNumber(store, 1);
    const { follower } = follow(folder, store, { keepMs: 1_500 });
    await follower.start();
    const second = await publishNumber(store, 2);
    await until(() => follower.current()?.id === second.id);
    expect(nameOf(follower.at(first.id) as Generation)).toBe("NUMBER-1");
    expect(follower.at(second.id)).toBe(follower.current());
    expect(follower.at("20250101T000000Z-00000000")).toBe("gone");
    expect(follower.at("20270101T000000Z-00000000")).toBe("not_yet");
    await until(() => follower.at(first.id) === "gone");
    expect(nameOf(follower.current())).toBe("NUMBER-2");
  });
});

test.each([
  { what: "all sections change", shared: 0, held: [false, false, false, true, true] },
  { what: "most sections are in service too", shared: 4_000, held: [true, true, true, true, true] },
])("of replaced snapshots, the first ones are dropped early if they take too much memory: $what", async ({ shared, held }) => {
  await inFolder(async (folder) => {
    const store = openFolderStore(folder);
    const routes = shared === 0 ? {} : { routes: madeRoutes(hostRoutes(shared)) };
    const publish = async (number: number) => {
      const names = madeNames(Object.fromEntries(Array.from({ length: 100 }, (_, asn) => [asn + 1, `NUMBER-${number} OF ${asn + 1}`])));
      return (await publishMade(store, { asOf: numbered(number).asOf as string, ...routes, names })).id;
    };
    const ids = [await publish(1)];
    const { follower } = follow(folder, store, { spareBytes: 100 });
    await follower.start();
    for (const number of [2, 3, 4, 5]) {
      const id = await publish(number);
      ids.push(id);
      await until(() => follower.current()?.id === id);
      // The one that was in service just before stays, whatever it takes.
      expect(nameOf(follower.at(ids.at(-2) as string) as Generation)).toBe(`NUMBER-${number - 1} OF 1`);
    }
    expect(ids.map((id) => typeof follower.at(id) === "object")).toEqual(held);
    expect(ids.filter((id) => follower.at(id) === "gone")).toHaveLength(held.filter((one) => !one).length);
  });
});

test("the memory of a dropped snapshot is freed, though the process does nothing else", async () => {
  await inFolder(async (folder) => {
    const publish = (number: number) => {
      const names = madeNames({ 1: `NUMBER-${number} ${"-".repeat(40_000_000)}` });
      return publishMade(openFolderStore(folder), { asOf: numbered(number).asOf as string, names });
    };
    const first = await publish(1);
    const child = forkTestProgram("libs/snapshot/test/support/follower-process.ts", [folder]);
    const sent: string[] = [];
    child.on("message", (message: string) => sent.push(message));
    try {
      await until(() => sent.includes(`serving ${first.id}`));
      const second = await publish(2);
      await until(() => sent.length === 3);
      expect(sent.slice(1).sort()).toEqual([`freed ${first.id}`, `serving ${second.id}`]);
    } finally {
      await endChild(child);
    }
  });
});

test("after a start, what a rollback replaced before it is gone, and what is published meanwhile is still to come", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const first = await place.publish(1);
    const second = await place.publish(2);
    place.publishAgain(first.id);
    place.activate(first.id);
    const { follower } = follow(folder, place.store);
    await follower.start();
    expect(follower.at(second.id)).toBe("not_yet");
    await until(() => follower.at(second.id) === "gone");

    // The follower has not heard of it, as `look` was not called.
    const third = await publishNumber(openFolderStore(folder), 3);
    place.store.pointer = async () => ({ published: third.id, active: first.id });
    expect(follower.at(third.id)).toBe("not_yet");
    await sleep(20);
    expect(follower.at(third.id)).toBe("not_yet");
  });
});

test("before anything is loaded every snapshot is still to come", async () => {
  await inFolder(async (folder) => {
    const { follower } = follow(folder, openFolderStore(folder));
    await follower.start();
    expect(follower.at("20250101T000000Z-00000000")).toBe("not_yet");
  });
});

test("refusing a newer snapshot makes the sections stale that it would have changed, until a good one serves", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const { follower, diary } = follow(folder, place.store);
    place.activate((await place.publish(1)).id);
    await follower.start();
    const stale = () => {
      const { routes, as_names } = (follower.current() as Generation).manifest.sections;
      const nowMs = Date.UTC(2026, 0, 2);
      return { routes: routes && isStale(routes, nowMs), as_names: as_names && isStale(as_names, nowMs) };
    };
    const fresh = { routes: false, as_names: false };
    expect(stale()).toEqual(fresh);

    const second = await place.publish(2, ({ sections }) => unlink(join(folder, "objects", sections.as_names?.object as string)));
    await until(() => diary.length > 1);
    expect(diary.at(-1)).toBe(`refused ${second.id}`);
    expect(nameOf(follower.current())).toBe("NUMBER-1");
    expect(stale()).toEqual({ routes: false, as_names: true });
    expect(follower.state()).toMatchObject({ last: { id: second.id, outcome: "refused", reason: expect.stringMatching("missing") } });

    const third = await place.publish(3);
    await until(() => follower.at(third.id) !== "not_yet");
    place.activate(third.id);
    expect(stale()).toEqual(fresh);
  });
});

test("one that starts where the active snapshot is damaged serves the one before, and tells that it is stale until a good one serves", async () => {
  await inFolder(async (folder) => {
    const { store, publish, activate } = inPhases(folder);
    const first = await publish(1);
    const second = await publish(2, (manifest) => unlink(join(folder, "objects", manifest.sections.as_names?.object as string)));
    activate(second.id);
    const { follower, diary } = follow(folder, store);
    const told: boolean[] = [];
    follower.listen({ stale: (stale) => told.push(stale) });
    await follower.start();
    expect(diary).toEqual([`refused ${second.id}`, `activated ${first.id}`]);
    expect(told).toEqual([true]);

    const third = await publish(3);
    await until(() => diary.includes(`prepared ${third.id}`));
    activate(third.id);
    expect(diary.at(-1)).toBe(`activated ${third.id}`);
    expect(told).toEqual([true, false]);
  });
});

test("a refused snapshot is tried again after a while, and serves once it is repaired", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const { follower, diary } = follow(folder, place.store, { retryRefusedMs: 200 });
    place.activate((await place.publish(1)).id);
    await follower.start();
    const second = await place.publish(2, ({ sections }) => unlink(join(folder, "objects", sections.as_names?.object as string)));
    place.activate(second.id);
    await until(() => diary.includes(`refused ${second.id}`));
    expect(nameOf(follower.current())).toBe("NUMBER-1");
    await publishNumber(place.store, 2);
    await until(() => nameOf(follower.current()) === "NUMBER-2");
  });
});

test("with nothing in service, one that was refused and is not published any more leaves no timers that find nothing to do", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const { follower, diary } = follow(folder, place.store, { retryUnavailableMs: 1 });
    const harm = ({ sections }: Manifest) => unlink(join(folder, "objects", sections.as_names?.object as string));
    const first = await place.publish(1, harm);
    await follower.start();
    const second = await place.publish(2, harm);
    await until(() => diary.includes(`refused ${second.id}`));
    // The time after which it would be tried again is over soon.
    await follower.look(first.id);
    await sleep(20);
    const timers = jest.spyOn(globalThis, "setTimeout");
    await sleep(40);
    const count = timers.mock.calls.length;
    timers.mockRestore();
    expect(diary).toEqual([`refused ${first.id}`, `refused ${second.id}`]);
    expect(count).toBe(0);
  });
});

test("a refused snapshot is tried again soon when a hint names it, as it may have been repaired", async () => {
  await inFolder(async (folder) => {
    const place = inPhases(folder);
    const { follower, diary } = follow(folder, place.store, { retryUnavailableMs: 20 });
    const first = await place.publish(1, ({ sections }) => unlink(join(folder, "objects", sections.as_names?.object as string)));
    place.activate(first.id);
    await follower.start();
    expect(diary).toEqual([`refused ${first.id}`]);
    await publishNumber(place.store, 1);
    await follower.look("another");
    await follower.look(first.id);
    await until(() => nameOf(follower.current()) === "NUMBER-1");
    expect(diary.filter((line) => line.startsWith("refused"))).toHaveLength(1);
  });
});

/** Three members of one frame, answered one after the other; `between` is called behind each. */
async function frame(members: () => Generation | null, between: () => void): Promise<Set<string | null>> {
  const names = new Set<string | null>();
  for (let member = 0; member < 3; member++) {
    names.add(nameOf(members()));
    await new Promise((resolve) => setImmediate(resolve));
    between();
  }
  return names;
}

/** How many of twenty frames had members of two generations while snapshots were swapped. */
async function mixedFrames(ask: (dataset: DatasetHolder, swap: () => void) => Promise<Set<string | null>>): Promise<number> {
  return await inFolder(async (folder) => {
    const place = inPhases(folder);
    const { follower } = follow(folder, place.store);
    const ids = [(await place.publish(1)).id];
    place.activate(ids[0] as string);
    await follower.start();
    ids.push((await place.publish(2)).id);
    await until(() => follower.at(ids[1] as string) !== "not_yet");
    let swaps = 0;
    let mixed = 0;
    for (let frames = 0; frames < 20; frames++) {
      if ((await ask(follower, () => place.activate(ids[++swaps % 2] as string))).size > 1) mixed++;
    }
    return mixed;
  });
}

test("a frame that takes its generation once is never mixed, and one that takes it late is seen to be", async () => {
  const once = (dataset: DatasetHolder, swap: () => void) => {
    const generation = dataset.current();
    return frame(() => generation, swap);
  };
  expect(await mixedFrames(once)).toBe(0);
  expect(await mixedFrames((dataset, swap) => frame(() => dataset.current(), swap))).toBe(20);
});

test("a snapshot without a section that serves is refused, unless its manifest says that the section was removed", async () => {
  await inFolder(async (folder) => {
    const store = openFolderStore(folder);
    const names = madeNames({ 1: "EXAMPLE" });
    const whole = await publishMade(store, { names, routes: madeRoutes([route("192.0.2.0/24", [64500, 3])]) });
    const { follower, diary } = follow(folder, store);
    await follower.start();
    const lacking = await publishMade(store, { names });
    await until(() => diary.length === 2);
    expect(diary).toEqual([`activated ${whole.id}`, `refused ${lacking.id}`]);
    expect(follower.current()?.id).toBe(whole.id);
    expect(follower.state().last?.reason).toBe(`snapshot ${lacking.id} lacks sections in service that nobody removed: routes`);

    const { id: _id, format: _format, format_version: _version, ...content } = madeManifest({ names });
    const meant = sealManifest({ ...content, removed_sections: ["routes"] });
    await store.publish(meant);
    await until(() => follower.current()?.id === meant.id);
    expect(follower.current()?.routes).toBeNull();
  });
});
