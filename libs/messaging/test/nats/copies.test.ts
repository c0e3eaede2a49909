/** @alone Copies that hang, are slow or end: the others answer, and each copy is asked again once it is well. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, describe, expect, test } from "@jest/globals";
import { freePorts } from "../../../../test/support/free-ports.ts";
import { freezeProcess } from "../../../../test/support/frozen.ts";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { forkTestProgram } from "../../../../test/support/programs.ts";
import { seeded } from "../../../../test/support/random.ts";
import { startTcpProxy } from "../../../../test/support/tcp-proxy.ts";
import type { Messaging, MessagingEvents, RetryReason } from "../../src/index.ts";
import { createNatsMessaging } from "../../src/nats/index.ts";
import { item, textOf } from "../contract/items.ts";
import { Ends, pause, until } from "./support.ts";

/** Shared by all scenes, which play at the same time: one that freezes a server starts its own. */
let shared: Promise<{ readonly server: NatsServer; readonly control: ChildProcess }> | undefined;
const sharedServer = async (): Promise<NatsServer> => {
  shared ??= startNatsServer({ own: true }).then(async (server) => ({
    server,
    // A service with one copy, which is well throughout: what it takes longer is the machine's doing.
    control: await start("control", 2, server.url, "control"),
  }));
  return (await shared).server;
};
afterAll(async () => {
  if (shared === undefined) return;
  const { server, control } = await shared;
  await end(control);
  await server.stop();
});

async function start(name: string, ms: number, url: string, service: string): Promise<ChildProcess> {
  const pod = forkTestProgram("libs/messaging/test/nats/copy-process.ts", [url, name, `${ms}`, service]);
  await once(pod, "message");
  return pod;
}

async function end(pod: ChildProcess): Promise<void> {
  if (pod.exitCode !== null || pod.signalCode !== null) return;
  pod.kill("SIGKILL");
  await once(pod, "exit");
}

/** Questions that have come to a copy since this was asked before, answered or not. */
async function questionsAt(pod: ChildProcess): Promise<number> {
  const counted = once(pod, "message");
  pod.send("count");
  const [count] = (await counted) as [number];
  return count;
}

let scenes = 0;

/** Copies of a service of their own, and who asks them. */
class Scene {
  readonly url: string;
  readonly service = `pod${++scenes}`;
  readonly #ends: Ends;
  readonly #pods: ChildProcess[] = [];

  constructor(url: string) {
    this.url = url;
    this.#ends = new Ends(() => url);
  }

  /** A copy in a process of its own, which answers its name after `ms`. */
  async copy(name: string, { ms = 2, url = this.url, service = this.service } = {}): Promise<ChildProcess> {
    const pod = await start(name, ms, url, service);
    this.#pods.push(pod);
    return pod;
  }

  asker(events?: MessagingEvents): Promise<Messaging> {
    return this.#ends.messaging(events && { events });
  }

  /** Asks every 5 ms, and the control copy with it. */
  async load(asker: Messaging, ms: number, lane: "single" | "batch" = "single"): Promise<Asked[]> {
    const begun = performance.now();
    const ask = async (service: string): Promise<Timed> => {
      const at = performance.now();
      const by = await asker.request(service, lane, item("q", { budgetMs: 5_000 })).then(textOf, (error: { code: string }) => error.code);
      return { by, at: at - begun, ms: performance.now() - at };
    };
    const asked: Promise<Timed>[] = [];
    const controls: Promise<Timed>[] = [];
    while (performance.now() - begun < ms) {
      asked.push(ask(this.service));
      controls.push(ask("control"));
      await pause(5);
    }
    const well = await Promise.all(controls);
    return (await Promise.all(asked)).map((one) => ({ ...one, excessMs: one.ms - stallAt(one, well) }));
  }

  async end(): Promise<void> {
    await this.#ends.close();
    await Promise.all(this.#pods.map(end));
  }
}

async function play(url: string, act: (scene: Scene) => Promise<void>): Promise<void> {
  const scene = new Scene(url);
  try {
    await act(scene);
  } finally {
    await scene.end();
  }
}

/** A test that plays while other scenes do. */
function besideOthers(title: string, act: (scene: Scene) => Promise<void>): void {
  test.concurrent(title, async () => play((await sharedServer()).url, act));
}

function byItself(title: string, act: (scene: Scene) => Promise<void>): void {
  test(title, async () => play((await sharedServer()).url, act));
}

interface Asked {
  readonly by: string;
  /** From the start of the load, in ms. */
  readonly at: number;
  readonly ms: number;
  /** Beyond the longest answer of the control copy at about that time. */
  readonly excessMs: number;
}

type Timed = Omit<Asked, "excessMs">;

/** A machine that is busy holds up processes one after the other, so also those times count that are close. */
const nearMs = 250;

function stallAt({ at, ms }: Timed, well: readonly Timed[]): number {
  const near = well.filter((one) => one.at < at + ms + nearMs && one.at + one.ms > at - nearMs);
  return Math.max(0, ...near.map((one) => one.ms));
}

const names = (asked: readonly Asked[]) => [...new Set(asked.map(({ by }) => by))].sort();
const longest = (asked: readonly Asked[]) => Math.max(...asked.map(({ excessMs }) => excessMs));

besideOthers("a copy on a link that stalls for up to 3 s and is reset costs no request 250 ms", async (scene) => {
  const link = await startTcpProxy(scene.url);
  const below = seeded(6_298);
  let over = false;
  let stalls = 0;
  let resets = 0;
  // A lost segment holds back what comes after it until it is sent again: 200 ms at first, twice as long each time it is lost again.
  const losing = async (): Promise<void> => {
    while (!over) {
      await pause(50 + below(300));
      const isReset = below(4) === 0;
      if (isReset) await link.cut();
      else link.freeze();
      if (isReset) resets += 1;
      else stalls += 1;
      await pause(200 * 2 ** (below(40) / 10));
      await link.restore();
    }
  };
  try {
    await Promise.all([scene.copy("first", { url: link.url }), scene.copy("second")]);
    const asker = await scene.asker();
    await scene.load(asker, 500);
    const ended = losing();
    const asked = await scene.load(asker, 6_000);
    over = true;
    await ended;
    console.log(`${stalls} stalls, ${resets} resets: ${asked.length} requests, the longest ${Math.round(longest(asked))} ms`);
    expect(asked.filter(({ by }) => by !== "first" && by !== "second")).toEqual([]);
    expect(stalls + resets).toBeGreaterThan(3);
    expect(longest(asked)).toBeLessThan(250);
  } finally {
    over = true;
    await link.stop();
  }
});

besideOthers("a copy that hangs costs no request 250 ms in either lane, and is asked again when it goes on", async (scene) => {
  const [first] = await Promise.all([scene.copy("first"), scene.copy("second")]);
  const asker = await scene.asker();
  // Both lanes at the same time: each has its own account of the copies.
  const lanes = ["single", "batch"] as const;
  const loads = (ms: number) => Promise.all(lanes.map((lane) => scene.load(asker, ms, lane)));
  const bothOf = (asked: readonly Asked[][]) => asked.map(names);
  expect(bothOf(await loads(500))).toEqual(lanes.map(() => ["first", "second"]));
  freezeProcess(first.pid as number);
  const hanging = await loads(3_000);
  expect(bothOf(hanging)).toEqual(lanes.map(() => ["second"]));
  for (const asked of hanging) {
    expect(longest(asked)).toBeLessThan(250);
    // Left out: only the question to any copy, one in 5 s, may meet it.
    const late = asked.filter(({ at }) => at > 1_000);
    expect(late.filter(({ excessMs }) => excessMs > 60).length).toBeLessThan(late.length / 20);
  }
  first.kill("SIGCONT");
  await pause(1_000);
  expect(bothOf(await loads(1_000))).toEqual(lanes.map(() => ["first", "second"]));
});

besideOthers("a copy on a link that loses data costs no request 250 ms", async (scene) => {
  const link = await startTcpProxy(scene.url);
  // What is lost is sent again after a while, and what was sent after it waits, in one direction and then in the other.
  let turns = 0;
  const lose = () => {
    turns += 1;
    link.delay(turns % 3 === 0 ? 400 : 0, turns % 2 === 0 ? "toTarget" : "toClient");
  };
  let losing: NodeJS.Timeout | undefined;
  try {
    await Promise.all([scene.copy("first", { url: link.url }), scene.copy("second")]);
    const asker = await scene.asker();
    expect(names(await scene.load(asker, 500))).toEqual(["first", "second"]);
    // From here on the copy may be left out until the end.
    losing = setInterval(lose, 100);
    const asked = await scene.load(asker, 3_000);
    expect(asked.filter(({ by }) => by !== "first" && by !== "second")).toEqual([]);
    expect(longest(asked)).toBeLessThan(250);
  } finally {
    clearInterval(losing);
    await link.stop();
  }
});

besideOthers("one of three nats-servers that hangs costs no request of a gateway at another one 250 ms", async (scene) => {
  const routes = await freePorts(3);
  const config = (port: number) =>
    `cluster { name: c, listen: "127.0.0.1:${port}", routes: [${routes.map((route) => `"nats://127.0.0.1:${route}"`).join(", ")}] }`;
  const servers = await Promise.all(routes.map((port) => startNatsServer({ own: true, config: config(port) })));
  const [first, second, third] = servers.map(({ url }) => url) as [string, string, string];
  const asker = await createNatsMessaging({ servers: first, name: "asker" });
  try {
    await Promise.all([
      scene.copy("second", { url: second }),
      scene.copy("third", { url: third }),
      scene.copy("control", { url: first, service: "control" }),
    ]);
    // Until the servers know each other.
    for (const end = performance.now() + 5_000; names(await scene.load(asker, 200)).join() !== "second,third" && performance.now() < end; );
    servers[1]?.freeze();
    const asked = await scene.load(asker, 2_000);
    // The copy at the frozen server finds its way to another one, and answers again.
    expect(asked.filter(({ by }) => by !== "second" && by !== "third")).toEqual([]);
    expect(asked.filter(({ by }) => by === "third").length).toBeGreaterThan(0);
    expect(longest(asked)).toBeLessThan(250);
  } finally {
    servers[1]?.thaw();
    await asker.close();
    await Promise.all(servers.map((one) => one.stop()));
  }
});

besideOthers("a copy that is 50 times slower is sent one question at a time, twice a second", async (scene) => {
  const [slow] = await Promise.all([scene.copy("slow", { ms: 100 }), scene.copy("second")]);
  const asker = await scene.asker();
  await scene.load(asker, 1_000);
  await questionsAt(slow);
  const asked = await scene.load(asker, 2_000);
  const questions = await questionsAt(slow);
  expect(longest(asked)).toBeLessThan(250);
  expect(questions).toBeGreaterThan(0);
  // One in 500 ms, and some where the machine holds up the other copy for 60 ms: test/frames/copies.test.ts has the rule by itself.
  expect(questions).toBeLessThan(asked.length / 5);
});

test.concurrent("a nats-server that hangs is told within 1 s, and asked again when it goes on", async () => {
  const server = await startNatsServer({ own: true });
  try {
    await play(server.url, async (scene) => {
      await scene.copy("first");
      const asker = await scene.asker();
      await scene.load(asker, 300);
      server.freeze();
      const asked = await scene.load(asker, 1_500).finally(() => server.thaw());
      expect(names(asked)).toEqual(["not_connected"]);
      // There is no control copy.
      expect(Math.max(...asked.map(({ ms }) => ms))).toBeLessThan(1_000);
      let answer = "";
      for (const end = performance.now() + 8_000; answer !== "first" && performance.now() < end; await pause(100))
        answer = (await scene.load(asker, 1))[0]?.by ?? "";
      expect(answer).toBe("first");
    });
  } finally {
    await server.stop();
  }
});

besideOthers("a copy that is killed costs no request 500 ms", async (scene) => {
  const [first] = await Promise.all([scene.copy("first"), scene.copy("second")]);
  const asker = await scene.asker();
  await scene.load(asker, 300);
  const loading = scene.load(asker, 1_500);
  await pause(300);
  first.kill("SIGKILL");
  const asked = await loading;
  expect(names(asked)).toEqual(["first", "second"]);
  expect(longest(asked)).toBeLessThan(500);
});

describe("one by one, what helps requests to another copy", () => {
  const retries = (): { readonly told: Set<RetryReason>; readonly events: MessagingEvents } => {
    const told = new Set<RetryReason>();
    return { told, events: { itemsRetried: (_service, _lane, reason) => void told.add(reason) } };
  };
  const askAtOnce = (scene: Scene, asker: Messaging, count: number) =>
    Promise.all(Array.from({ length: count }, () => asker.request(scene.service, "single", item("q", { budgetMs: 60_000 })).then(textOf)));
  /** One frame each, in this and that copy. */
  const ask = async (scene: Scene, asker: Messaging, count: number): Promise<string[]> => {
    const answers: Promise<string[]>[] = [];
    for (let asked = 0; asked < count; asked++) {
      answers.push(askAtOnce(scene, asker, 1));
      await pause(2);
    }
    return [...new Set((await Promise.all(answers)).flat())].sort();
  };

  byItself("frames that a killed copy had go to another one once it is silent", async (scene) => {
    const [first] = await Promise.all([scene.copy("first"), scene.copy("second")]);
    const { told, events } = retries();
    const asker = await scene.asker(events);
    await until(async () => (await ask(scene, asker, 20)).length === 2);
    freezeProcess(first.pid as number);
    const asking = ask(scene, asker, 20);
    await pause(30);
    await end(first);
    expect(await asking).toEqual(["second"]);
    expect(told).toContain("silent");
    expect(told).not.toContain("no_answer");
  });

  byItself("frames for a copy that has ended go to another one at once, which is no retry", async (scene) => {
    const [first] = await Promise.all([scene.copy("first"), scene.copy("second")]);
    const { told, events } = retries();
    const asker = await scene.asker(events);
    await until(async () => (await ask(scene, asker, 20)).length === 2);
    await end(first);
    // Until the server has seen its end.
    await asker.probe(5_000);
    await pause(100);
    told.clear();
    expect(await ask(scene, asker, 20)).toEqual(["second"]);
    expect(told).not.toContain("no_responders");
    expect(told).not.toContain("silent");
  });

  byItself("a frame that a copy holds back while it answers calls goes to another one too", async (scene) => {
    const [holding] = await Promise.all([scene.copy("holding"), scene.copy("second")]);
    const { told, events } = retries();
    const asker = await scene.asker(events);
    await until(async () => (await ask(scene, asker, 20)).length === 2);
    holding.send("hold");
    // Messages to it are read in order: it holds once this one is answered.
    await questionsAt(holding);
    expect(await ask(scene, asker, 100)).toEqual(["second"]);
    expect(told).toContain("slow");
    expect(told).not.toContain("no_answer");
  });

  byItself("a process that was busy itself takes no copy for a silent or slow one", async (scene) => {
    await Promise.all([scene.copy("first"), scene.copy("second")]);
    const { told, events } = retries();
    const asker = await scene.asker(events);
    await until(async () => (await ask(scene, asker, 20)).length === 2);
    told.clear();
    const asking = askAtOnce(scene, asker, 20);
    // Until they are sent.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    for (const end = performance.now() + 600; performance.now() < end; );
    await asking;
    expect([...told]).toEqual([]);
  });
});
