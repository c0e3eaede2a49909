/** Requests that come in at once: one caller or connection does not hold up the others, and each connection keeps its order. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { CallerTurns } from "../../src/edge/caller-turns.ts";
import { Connections } from "../../src/edge/connections.ts";
import { createCors } from "../../src/edge/cors.ts";
import type { KeylessGate } from "../../src/edge/keyless-gate.ts";
import { createGatewayMetrics } from "../../src/metrics.ts";

/** More than a round has time for. */
const longMs = 6;

function work(): void {
  const end = performance.now() + longMs;
  while (performance.now() < end);
}

/** Turns by a clock that only work moves on. */
function turnsByWork(): { readonly turns: CallerTurns; readonly work: (ms?: number) => void } {
  let now = 0;
  return {
    turns: new CallerTurns(() => now),
    work(ms = longMs) {
      now += ms;
    },
  };
}

interface Watched {
  readonly server: Server;
  readonly port: number;
  stop(): Promise<void>;
}

async function startServer(answer: RequestListener, keyless: KeylessGate | null = null): Promise<Watched> {
  const server = createServer(answer);
  const connections = new Connections({
    resource: "connections",
    connectionsMax: 100,
    pipelineMax: 10,
    writeStallMs: 60_000,
    isShared: () => false,
    keyless,
    refusals: null,
    turns: new CallerTurns(),
    bucketOf: () => null,
    errorDocsBase: "",
    fixedHeaders: {},
    cors: createCors([]),
    metrics: createGatewayMetrics(createMetrics("test", createRegistry())),
    log: { info() {}, warn() {}, error() {} },
    clock: { now: () => Date.now() },
  });
  connections.watch(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async stop() {
      connections.stop(0);
      server.close();
      await once(server, "close");
    },
  };
}

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

test("what comes after a turn's time waits for later turns, connection by connection", async () => {
  const { turns, work } = turnsByWork();
  const [a, b] = [{}, {}];
  const begun: string[] = [];
  const turnOf: number[] = [];
  let turn = 0;
  const count = () => {
    turn += 1;
    if (begun.length < 7) setImmediate(count);
  };
  setImmediate(count);
  const all = new Promise<void>((resolve) => {
    const start = (name: string) => () => {
      begun.push(name);
      turnOf.push(turn);
      work();
      if (begun.length === 7) resolve();
    };
    for (const name of ["a1", "a2", "a3", "a4"]) turns.take("", a, start(name));
    for (const name of ["b1", "b2", "b3"]) turns.take("", b, start(name));
  });
  await all;
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "b2", "a4", "b3"]);
  expect(new Set(turnOf).size).toBe(7);
});

test("a caller whose time is over holds up nobody else", async () => {
  const { turns, work } = turnsByWork();
  const done: string[] = [];
  // From now on the time of a round is shared.
  for (const caller of ["greedy", "polite"]) turns.take(caller, {}, () => {});
  await new Promise(setImmediate);
  const all = new Promise<void>((resolve) => {
    for (let connection = 0; connection < 4; connection++)
      turns.take("greedy", {}, () => {
        work(3);
        if (done.push("greedy") === 5) resolve();
      });
  });
  turns.take("polite", {}, () => done.push("polite"));
  expect(done).toEqual(["greedy", "polite"]);
  await all;
  expect(done.slice(2)).toEqual(["greedy", "greedy", "greedy"]);
});

test("work in steps waits between them for the turns of others, and what follows each wait counts", async () => {
  const { turns, work } = turnsByWork();
  const done: string[] = [];
  const inSteps = async (caller: string, steps: number) => {
    const line = {};
    for (let step = 0; step < steps; step++) {
      const turn = turns.next(caller, line);
      if (turn !== null) await turn;
      done.push(caller);
      work();
    }
  };
  await Promise.all([inSteps("greedy", 4), inSteps("greedy", 4), inSteps("polite", 2)]);
  expect(done.slice(0, 5)).toEqual(["greedy", "greedy", "polite", "greedy", "polite"]);
  expect(turns.hasTime("other")).toBe(false);
  await new Promise(setImmediate);
  expect(turns.hasTime("other")).toBe(true);
});

test("a caller has less of a round while another had work lately", async () => {
  const { turns, work } = turnsByWork();
  const inRound = async () => {
    await new Promise(setImmediate);
    let steps = 0;
    for (; turns.hasTime("greedy"); steps++) work(0.5);
    return steps;
  };
  expect(await inRound()).toBe(10);
  turns.take("polite", {}, () => {});
  expect([await inRound(), await inRound()]).toEqual([2, 2]);
  work(100);
  expect(await inRound()).toBe(10);
});

test("what work leaves to later ticks counts as its time too", async () => {
  const { turns, work } = turnsByWork();
  let round = 0;
  const rounds: number[] = [];
  const count = () => {
    round += 1;
    if (rounds.length < 4) setImmediate(count);
  };
  setImmediate(count);
  const line = {};
  turns.take("greedy", line, work);
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      await turns.next("greedy", line);
      rounds.push(round);
      process.nextTick(work);
    }),
  );
  // One may begin before the ticks of the one before it have run.
  for (const number of rounds) expect(rounds.filter((other) => other === number).length).toBeLessThanOrEqual(2);
});

test("what fits into a turn begins at once", () => {
  const { turns } = turnsByWork();
  let begun = 0;
  for (let count = 0; count < 10; count++) turns.take("", {}, () => begun++);
  expect(begun).toBe(10);
});

test("a connection that sends many requests at once is answered in turn with others", async () => {
  const begun: string[] = [];
  const { port, stop } = await startServer(({ url = "" }, response) => {
    begun.push(url);
    work();
    response.end();
  });
  const open = async () => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.resume();
    await once(socket, "connect");
    return socket;
  };
  const [greedy, polite] = [await open(), await open()];
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  greedy.write(["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"].map(ask).join(""));
  polite.write(ask("/polite"));
  while (begun.length < 9) await new Promise(setImmediate);
  expect(begun.filter((path) => path !== "/polite")).toEqual(["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"]);
  expect(begun.indexOf("/polite")).toBeLessThan(8);
  // Who goes away is not answered.
  greedy.write(["/9", "/10", "/11"].map(ask).join(""));
  while (!begun.includes("/9")) await new Promise(setImmediate);
  greedy.destroy();
  await stop();
  expect(begun).not.toContain("/11");
});

test("of a caller whose time is over, what other connections have sent is read in later rounds", async () => {
  let round = 0;
  /** Connections of which requests were read, by round. */
  const read = new Map<number, Set<string>>();
  const judge = ({ url = "" }: IncomingMessage) => {
    read.set(round, (read.get(round) ?? new Set()).add(url));
    return null;
  };
  const answer: RequestListener = (_request, response) => {
    work();
    response.end();
  };
  const { server, port, stop } = await startServer(answer, { judge, ended() {} } as unknown as KeylessGate);
  const count = () => {
    round += 1;
    if (server.listening) setImmediate(count);
  };
  const ofAll = Array.from({ length: 8 }, () => connect(port, "127.0.0.1"));
  sockets.push(...ofAll);
  let accepted = 0;
  server.on("connection", () => accepted++);
  const ends = ofAll.map(async (socket) => {
    let text = "";
    socket.setEncoding("latin1").on("data", (piece) => {
      text += piece;
    });
    await once(socket, "close");
    return text.split("HTTP/1.1 200").length - 1;
  });
  while (accepted < 8) await new Promise(setImmediate);
  count();
  // All is there before the server reads any of it.
  for (const [index, socket] of ofAll.entries())
    socket.write(`${`GET /${index} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(4)}GET /${index} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(await Promise.all(ends)).toEqual(Array.from({ length: 8 }, () => 5));
  expect(Math.max(...[...read.values()].map(({ size }) => size))).toBeLessThanOrEqual(3);
  await stop();
});

test("connections of one caller that each ask for one thing at a time get their answers equally often", async () => {
  const { port, stop } = await startServer((_request, response) => {
    const end = performance.now() + 1;
    while (performance.now() < end);
    response.end();
  });
  const answers = Array.from({ length: 40 }, () => 0);
  await new Promise<void>((resolve) => {
    for (const index of answers.keys()) {
      const socket = connect(port, "127.0.0.1");
      sockets.push(socket);
      const ask = () => socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      socket.on("data", () => {
        answers[index] = (answers[index] as number) + 1;
        if (answers.reduce((sum, count) => sum + count) === 800) resolve();
        else ask();
      });
      ask();
    }
  });
  expect(Math.min(...answers)).toBeGreaterThan(10);
  await stop();
});
