/**
 * Snapshots that replace each other under load: each answer is wholly of one, none fails, and a pod that cannot load a new one says so.
 *
 * @alone It asserts deadlines.
 */

import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { operations } from "@netfacts/contracts";
import { createResponder, type Lane, type Messaging, type ReplyItem, withWholeBody } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { openStore } from "@netfacts/pod/jetstream";
import { type AnswerContext, enterDataset, recordHandler } from "@netfacts/records";
import { type Generation, openFolderStore, type SnapshotStore } from "@netfacts/snapshot";
import { testBucket } from "../../libs/pod/test/jetstream/bucket.ts";
import { madeGeneration, madeManifest, publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { ActivationCoordinator, type ActivationOutcome } from "../../services/ingest/src/publish/activation-coordinator.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { freezeProcess } from "../support/frozen.ts";
import { median, request, until } from "../support/http.ts";
import { testUser } from "../support/nats-users.ts";
import { temporaryFolder } from "../support/processes.ts";
import { isLong } from "../support/runs.ts";
import { madeWorld, WorldOracle, type WorldQuestion, worldQuestions } from "./worlds.ts";

const bucket = "netfacts-snapshots";
const swaps = isLong ? 5 : 3;
const answersMin = isLong ? 10_000 : 6_000;
/** Between two requests of one asker: the load of an ordinary run leaves the processors time. */
const pauseMs = isLong ? { single: 1, batch: 10 } : { single: 15, batch: 100 };
/** Ingest's own bound is 10 s; a shorter one keeps the test short. */
const waitMs = 2_000;

const oracle = new WorldOracle([0, 1, 2, 3, 4, 5, 6]);
let folder: string;
let distributed: Distributed;
let messaging: Messaging;
let store: SnapshotStore;
let coordinator: ActivationCoordinator;
let activateCalledAt = Number.NaN;
const undo: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  const first = openFolderStore(folder);
  const { id } = await publishMade(first, madeWorld(0));
  distributed = await startDistributed({
    replicas: { "ip-routing": 2, "asn-prefix": 1, "rdns-resolver": 0, "gateway-auth-quota": 0 },
    snapshot: { store: first, id },
  });
  undo.push(() => distributed.stop());
  const connection = (name: string) => ({ servers: distributed.natsUrl, name });
  messaging = await createNatsMessaging(connection("load"));
  undo.push(() => messaging.close());
  const opened = await openStore({ bucket, connection: connection("ingest") });
  undo.push(() => opened.close());
  store = opened.store;
  coordinator = new ActivationCoordinator({
    broadcast: messaging,
    // All pods are known before the first release.
    settings: { waitMs, discoverMs: 200 },
    store: {
      pointer: () => store.pointer(),
      activate(id) {
        activateCalledAt = performance.now();
        return store.activate(id);
      },
    },
  });
  coordinator.start();
  undo.push(() => coordinator.stop());
  await until(() => coordinator.pods().length === 3, { timeoutMs: 30_000 });
});

afterAll(async () => {
  for (const step of undo.reverse()) await step();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

type Asked = Pick<Messaging, "request">;

/** Asks over messaging and keeps what is wrong, and when each world answered last. */
class Load {
  readonly faults: string[] = [];
  readonly lastSeenAt = new Map<string, number>();
  readonly answers = { single: 0, batch: 0 };
  #asked = 0;
  #stopped = false;
  readonly #to: Asked;
  readonly #questions: readonly WorldQuestion[];

  constructor(to: Asked, questions = worldQuestions) {
    this.#to = to;
    this.#questions = questions;
  }

  get count(): number {
    return this.answers.single + this.answers.batch;
  }

  /** One request after the other. */
  async singles(): Promise<void> {
    while (!this.#stopped) {
      await this.#ask(this.#next(), "single", null);
      await sleep(pauseMs.single);
    }
  }

  /** The first answer of a batch names the snapshot that all others must be of, as a caller of `/batch` gets it. */
  async batches(size: number): Promise<void> {
    while (!this.#stopped) {
      const pin = (await this.#ask(this.#next(), "batch", null))?.snapshotId ?? null;
      await Promise.all(Array.from({ length: size - 1 }, () => this.#ask(this.#next(), "batch", pin)));
      await sleep(pauseMs.batch);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  #next(): WorldQuestion {
    // Spread over all questions, in the same order each time.
    this.#asked += 1;
    return this.#questions[(this.#asked * 7) % this.#questions.length] as WorldQuestion;
  }

  async #ask(question: WorldQuestion, lane: Lane, pinned: string | null): Promise<ReplyItem | null> {
    const { service } = operations[question.op];
    const item = { op: question.op, query: question.query, requestId: `load-${this.#asked}`, traceparent: null, budgetMs: 5_000 };
    try {
      const reply = withWholeBody(await this.#to.request(service, lane, item, pinned));
      this.answers[lane] += 1;
      const { body, snapshotId } = reply;
      if (reply.contentType === "problem") {
        this.faults.push(`${question.path}: ${Buffer.from(body).toString()}`);
        return null;
      }
      const fault = oracle.fault({ question, body, snapshotId, pinned });
      if (fault !== null) this.faults.push(fault);
      if (pinned === null) this.lastSeenAt.set(snapshotId, performance.now());
      return reply;
    } catch (error) {
      this.faults.push(`${question.path}: ${(error as Error).message}`);
      return null;
    }
  }
}

async function release(world: number): Promise<ActivationOutcome> {
  const { id } = await publishMade(store, madeWorld(world));
  return coordinator.activate(id);
}

const idOf = (world: number): string => madeManifest(madeWorld(world)).id;

test("answers under load are each of one snapshot, through several swaps, and every replica answers from a new one within a second", async () => {
  const load = new Load(messaging);
  const running = [...Array.from({ length: 8 }, () => load.singles()), load.batches(100), load.batches(30)];
  const delays: number[] = [];
  for (let world = 1; world <= swaps; world++) {
    await until(() => load.count >= (answersMin / (swaps + 1)) * world, { timeoutMs: 30_000 });
    const before = load.lastSeenAt.get(idOf(world - 1)) ?? 0;
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(await release(world)).toMatchObject({ activated: true, refused: [], loading: [] });
    const calledAt = activateCalledAt;
    // Long enough for a replica that was late to be caught.
    await sleep(1_200);
    delays.push(Math.max(0, (load.lastSeenAt.get(idOf(world - 1)) ?? 0) - calledAt));
  }
  await until(() => load.count >= answersMin, { timeoutMs: 30_000 });
  load.stop();
  await Promise.all(running);

  const { single, batch } = load.answers;
  const shown = delays.map((ms) => Math.round(ms)).join(", ");
  console.log(
    `${single} single and ${batch} batch answers over ${swaps} swaps; last answer of the old snapshot after activate: ${shown} ms`,
  );
  expect(load.faults).toEqual([]);
  expect(load.count).toBeGreaterThanOrEqual(answersMin);
  expect(Math.min(single, batch)).toBeGreaterThan(1_000);
  expect(median(delays)).toBeLessThanOrEqual(1_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(10_000);
  // The load reached both replicas, in both lanes.
  for (const { operationsUrl } of distributed.services["ip-routing"]) {
    const metrics = (await request(`${operationsUrl}/metrics`)).text;
    for (const lane of ["single", "batch"])
      expect(seriesValue(metrics, "netfacts_items_served_total", `lane="${lane}"`)).toBeGreaterThan(100);
  }
});

test("a pod that finds a new snapshot damaged stays on the old one and tells so; the others go on after the bound", async () => {
  const [user = "", pass = ""] = testUser.split(":");
  const harm = await testBucket(distributed.nats, { name: bucket, user, pass });
  undo.push(() => harm.nc.close());
  const [, late] = distributed.services["ip-routing"];
  if (late === undefined) throw new Error("there is no second replica");
  const old = (await store.pointer())?.active as string;
  expect(old).toBe(idOf(swaps));

  // The second replica is held up until the object that the others have read is damaged.
  freezeProcess(late.pid as number);
  const activation = release(swaps + 1);
  const loaded = () => coordinator.pods().filter(({ snapshot, outcome }) => snapshot === idOf(swaps + 1) && outcome === "loaded");
  await until(() => loaded().length === 2, { timeoutMs: waitMs });
  await harm.damage(madeManifest(madeWorld(swaps + 1)).sections.as_names?.object as string);
  late.signal("SIGCONT");
  const outcome = await activation;

  expect(outcome).toMatchObject({
    activated: true,
    loaded: ["asn-prefix-0", "ip-routing-0"],
    refused: [{ pod: "ip-routing-1", reason: expect.stringMatching("damaged") }],
  });
  expect(outcome.waitedMs).toBeGreaterThanOrEqual(waitMs);

  // Both worlds answer, each wholly; that of the pod that refused says that it is stale.
  const [question] = worldQuestions as [WorldQuestion];
  const staleOf = new Map<string, boolean>();
  await until(async () => {
    const item = { op: question.op, query: question.query, requestId: "late", traceparent: null, budgetMs: 5_000 };
    const { body, snapshotId } = await messaging.request("ip-routing", "single", item);
    expect(oracle.fault({ question, body, snapshotId, pinned: null })).toBeNull();
    const { meta } = JSON.parse(Buffer.from(body).toString());
    staleOf.set(
      snapshotId,
      Object.values(meta.data as Record<string, { stale: boolean }>).every(({ stale }) => stale),
    );
    // The other replica may have answered from the old one too, a moment before it went on.
    return staleOf.get(old) === true && staleOf.has(idOf(swaps + 1));
  });
  expect(Object.fromEntries(staleOf)).toEqual({ [old]: true, [idOf(swaps + 1)]: false });

  const metrics = (await request(`${late.operationsUrl}/metrics`)).text;
  expect(seriesValue(metrics, "netfacts_snapshot_stale")).toBe(1);
  expect(seriesValue(metrics, "netfacts_snapshot_loads_total", 'outcome="refused"')).toBeGreaterThanOrEqual(1);
  const told = late
    .log()
    .split("\n")
    .filter((line) => line.includes("snapshot rejected"));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] as string)).toMatchObject({
    level: "error",
    snapshot: idOf(swaps + 1),
    err: { message: expect.stringMatching("damaged") },
  });
});

/** The value of one series in the text of `/metrics`. */
function seriesValue(metrics: string, name: string, label = ""): number {
  const line = metrics.split("\n").find((one) => one.startsWith(name) && one.includes(label));
  return Number(line?.split(" ").at(-1));
}

/** Holds two worlds and is swapped whenever it is looked at: the most that a late look can meet. */
function restlessHolder() {
  const worlds = [madeGeneration(madeWorld(0)), madeGeneration(madeWorld(1))] as const;
  let looks = 0;
  return {
    current: () => worlds[looks++ % 2] as Generation,
    at: (id: string) => worlds.find((world) => world.id === id) ?? ("gone" as const),
  };
}

/** What the load finds wrong with a responder that takes its generation as told. */
async function faultsOf(generationOf: (holder: ReturnType<typeof restlessHolder>, entered: Generation) => Generation): Promise<string[]> {
  const holder = restlessHolder();
  const clock = { now: Date.now };
  const routing = recordHandler("routing");
  const handler = createResponder<AnswerContext>({
    enter: (pinned) => enterDataset(holder, clock, pinned),
    ops: new Map([["routing", (item, context) => routing(item, { ...context, generation: generationOf(holder, context.generation) })]]),
    onFailure: () => undefined,
  });
  const server = await createNatsMessaging({ servers: distributed.natsUrl, name: "planted" });
  // A name of its own, so that only the planted responder is asked.
  const planted = await server.serve("planted", handler);
  const renamed: Asked = { request: (_service, ...rest) => messaging.request("planted", ...rest) };
  const load = new Load(
    renamed,
    worldQuestions.filter(({ op }) => op === "routing"),
  );
  const running = [load.singles(), load.batches(20)];
  await until(() => load.answers.single > 20 && load.answers.batch > 60);
  load.stop();
  await Promise.all(running);
  await planted.stop();
  await server.close();
  return load.faults;
}

test("the same load sees a responder that looks at the generation again for each item, or mixes two in one record", async () => {
  expect(await faultsOf((_holder, entered) => entered)).toEqual([]);
  // Whoever asks for a snapshot refuses an answer of another one.
  expect(await faultsOf((holder) => holder.current())).toContainEqual(expect.stringMatching(/: handler_failed$/));
  const mixed = await faultsOf((holder, entered) => withNamesOf(entered, holder.current()));
  expect(mixed).toContainEqual(expect.stringMatching(/the record is not of it$/));
});

/** Routes from one generation, names from another. */
function withNamesOf(routes: Generation, names: Generation): Generation {
  return new Proxy(routes, { get: (of, member) => (member === "names" ? names.names : Reflect.get(of, member, of)) });
}
