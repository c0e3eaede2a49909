/** The thread of the past: what it answers, and what its questions get when it fails, hangs, is full or is stopped. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { decodeQuestion, encodeQuery, wholeRecord } from "@netfacts/contracts";
import type { ReplyItem } from "@netfacts/messaging";
import { loadSnapshot, openFolderStore, pastDefaults, type SnapshotStore } from "@netfacts/snapshot";
import { madeNames, madeRoutes, route } from "../../../snapshot/test/support/made-sections.ts";
import { inFolder, publishMade } from "../../../snapshot/test/support/made-snapshot.ts";
import { PastThread, type PastThreadOptions } from "../../src/index.ts";
import type { PastThreadEvents } from "../../src/past/past-thread.ts";

const firstDay = Date.UTC(2026, 0, 1);
const dayMs = 86_400_000;
const budgetMs = 200_000;

const started: PastThread[] = [];
afterEach(() => {
  for (const thread of started.splice(0)) thread.stop();
});
const threadOf = (...args: ConstructorParameters<typeof PastThread>): PastThread => {
  const thread = new PastThread(...args);
  started.push(thread);
  return thread;
};

const textOf = ({ body }: ReplyItem): string => Buffer.from(body).toString();
const codeOf = (reply: ReplyItem): string =>
  reply.contentType === "problem" ? (JSON.parse(textOf(reply)) as { code: string }).code : "none";

describe("a thread with a store", () => {
  async function withDays(days: number, use: (store: SnapshotStore, folder: string, ids: string[]) => Promise<void>): Promise<void> {
    await inFolder(async (folder) => {
      let nowMs = 0;
      const store = openFolderStore(folder, { retention: { last: 1 }, clock: { now: () => nowMs } });
      const ids: string[] = [];
      for (let day = 0; day < days; day++) {
        nowMs = firstDay + (day + 0.5) * dayMs;
        ids.push(
          (await publishMade(store, { routes: madeRoutes([route("192.0.2.0/24", [64500, 3])]), names: madeNames({ 1: `DAY-${day}` }) })).id,
        );
      }
      await use(store, folder, ids);
    });
  }
  /** The name of AS 1 at noon and a bit of that day. */
  const question = (day: number, turn = 1) => {
    const past = { at: Math.floor((firstDay + (day + 0.6) * dayMs) / 1_000), snapshotId: null, turn };
    const query = encodeQuery("asn", decodeQuestion("asn", "1|-|-|-|100"), { ...wholeRecord, past });
    return { op: "asn", query, requestId: `of-${day}`, traceparent: null, budgetMs };
  };
  const nameIn = (reply: ReplyItem) => (JSON.parse(textOf(reply)) as { name?: string }).name;
  const held = (loaded: Awaited<ReturnType<typeof loadSnapshot>>[]) => ({ held: () => loaded });

  test("answers many questions about several days, each from its own, and tells what it loaded", async () => {
    await withDays(3, async (_, folder, ids) => {
      const loads: string[] = [];
      const results: string[] = [];
      const events: PastThreadEvents = { loaded: (id) => void loads.push(id), answered: (result) => void results.push(result) };
      const thread = threadOf({ kind: "folder", path: folder }, held([]), events);
      const days = [0, 1, 2, 1, 0];
      const replies = await Promise.all(days.map((day) => thread.ask(question(day), firstDay + 400 * dayMs)));
      expect(replies.map(nameIn)).toEqual(days.map((day) => `DAY-${day}`));
      expect(replies.map(textOf)[0]).toContain(`"request_id":"of-0","generated_at":"2027-02-05T00:00:00Z"`);
      expect(loads.toSorted()).toEqual(ids.toSorted());
      expect(codeOf(await thread.ask(question(-2), 0))).toBe("as_of_out_of_range");
      expect(results).toEqual([...days.map(() => "answered"), "as_of_out_of_range"]);
    });
  });

  test("shares what the process holds, and knows of it when that changes", async () => {
    await withDays(2, async (store, folder, ids) => {
      const present = [await loadSnapshot(store, await store.getManifest(ids[1] as string))];
      await rm(join(folder, "objects"), { recursive: true });
      const thread = threadOf({ kind: "folder", path: folder }, held(present), {}, { ...pastDefaults, retryMs: 0 });
      expect(nameIn(await thread.ask(question(1), 0))).toBe("DAY-1");
      expect(codeOf(await thread.ask(question(0), 0))).toBe("snapshot_unreadable");
      present.pop();
      expect(codeOf(await thread.ask(question(1), 0))).toBe("snapshot_unreadable");
    });
  });

  test("that is stopped while it loads lets nobody wait", async () => {
    await withDays(2, async (_, folder) => {
      const thread = threadOf({ kind: "folder", path: folder }, held([]));
      const asked = [0, 1].map((day) => thread.ask(question(day), 0));
      thread.stop();
      expect((await Promise.all(asked)).map(codeOf)).toEqual(["history_loading", "history_loading"]);
      expect(codeOf(await thread.ask(question(0), 0))).toBe("history_loading");
    });
  });
});

describe("a thread that fails", () => {
  const ask = (thread: PastThread, op: string, ms = budgetMs, query = op) =>
    thread.ask({ op, query, requestId: "1", traceparent: null, budgetMs: ms }, 0);
  const faulty = (options: Partial<PastThreadOptions> = {}) => {
    const ends: string[] = [];
    const module = new URL("./faulty-thread.ts", import.meta.url);
    const all = { ...pastDefaults, restartMs: 0, module, ...options };
    const source = { kind: "folder", path: "/nowhere" } as const;
    return { ends, thread: threadOf(source, { held: () => [] }, { ended: ({ message }) => void ends.push(message) }, all) };
  };

  test.each([
    ["crash", 60_000, /a fault of the thread/],
    ["hang", 1_000, /did not respond for 1000 ms/],
    ["hoard", 60_000, /memory/],
  ])("by %s is replaced, and whoever waits is told so", async (op, hungMs, cause) => {
    const { thread, ends } = faulty({ hungMs });
    const waits = ask(thread, "silent");
    expect(codeOf(await ask(thread, op))).toBe("history_unavailable");
    expect(codeOf(await waits)).toBe("history_unavailable");
    expect(ends).toEqual([expect.stringMatching(cause)]);
    expect(textOf(await ask(thread, "well"))).toBe("well");
  });

  test("is not started again at once", async () => {
    const { thread } = faulty({ restartMs: 60_000 });
    for (const op of ["crash", "well"]) expect(codeOf(await ask(thread, op))).toBe("history_unavailable");
  });

  test("to open its store says that the data are not ready", async () => {
    const { thread, ends } = faulty();
    expect(codeOf(await ask(thread, "not_opened"))).toBe("data_not_ready");
    expect(ends).toEqual(["no store"]);
  });

  test("in one answer fails in none of the others", async () => {
    const { thread, ends } = faulty();
    const failed = expect(ask(thread, "fail")).rejects.toThrow("a fault of one answer");
    expect(textOf(await ask(thread, "well"))).toBe("well");
    await failed;
    expect(ends).toEqual([]);
  });

  test("to answer in time is not waited for", async () => {
    const { thread } = faulty();
    expect(codeOf(await ask(thread, "silent", 150))).toBe("history_loading");
  });

  test("to answer anything has so many questions waiting, and refuses the next", async () => {
    const { thread } = faulty({ questionsMax: 2 });
    const waiting = [ask(thread, "silent", 1_000), ask(thread, "silent", 1_000)];
    const refused = await ask(thread, "well");
    expect([codeOf(refused), textOf(refused)]).toEqual(["history_loading", expect.stringContaining("Too many requests")]);
    await Promise.all(waiting);
    expect(textOf(await ask(thread, "well"))).toBe("well");
  });

  test("has room for others while one caller asks without end", async () => {
    const { thread } = faulty({ questionsMax: 16 });
    const by = (caller: number) =>
      encodeQuery("asn", decodeQuestion("asn", "1|-|-|-|100"), { ...wholeRecord, past: { at: 1, snapshotId: null, turn: caller } });
    const greedy = Array.from({ length: 40 }, () => ask(thread, "silent", 2_000, by(1)));
    expect(thread.state.waiting).toBe(12);
    const refused = await ask(thread, "well", budgetMs, by(1));
    expect([codeOf(refused), textOf(refused)]).toEqual(["history_loading", expect.stringContaining("Too many requests of this key")]);
    expect(textOf(await ask(thread, "well", budgetMs, by(2)))).toBe(by(2));
    expect((await Promise.all(greedy)).map(codeOf)).toEqual(greedy.map(() => "history_loading"));
    expect(thread.state.waiting).toBe(0);
  });
});
