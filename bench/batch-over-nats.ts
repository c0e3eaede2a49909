/**
 * P4: batches of 1,000 addresses, from their texts to the bytes of their records: asked within one process, and asked over NATS of
 * `ip-routing` in a process of its own, with nats-server between. The third side is the bound: as many bytes from one bare socket by
 * nats-server to another, without questions. `scripts/run.sh bench/batch-over-nats.ts`
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { encodeQuery, wholeRecord } from "@netfacts/contracts";
import { buildApp } from "@netfacts/ip-routing/app";
import { createInProcessMessaging, type Messaging } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { Generation, loadSnapshot, openDataFolder } from "@netfacts/snapshot";
import { startNatsServer } from "../test/support/nats-server.ts";
import { addressTexts } from "./support/addresses.ts";
import { askOne } from "./support/ask-one.ts";
import { requireData } from "./support/data.ts";
import { importModern } from "./support/modern.ts";
import { interleave, median, printResults } from "./support/rounds.ts";
import { cpuSeconds } from "./support/service-process.ts";

const batchAddresses = 1_000;
/** Batches that are asked at the same time, as by as many callers. */
const batchesAtOnce = 3;
const batchesPerRound = 120;
const rounds = 7;
/** Of the bare sockets: what `ip-routing` sends, so many records in a message. */
const recordBytes = 1_226;
const recordsPerMessage = 26;
const anyAddress = { ip: { version: 4, w0: 0, w1: 0, w2: 0, w3: 0 } } as const;
const self = fileURLToPath(import.meta.url);
const [, , role, url, podFolder] = process.argv;

async function serve(messaging: Messaging, folder: string): Promise<Generation> {
  const store = openDataFolder(folder);
  const id = (await store.currentId()) as string;
  const generation = Generation.of(await loadSnapshot(store, await store.getManifest(id)));
  const dataset = { current: () => generation, at: () => generation };
  const onFailure = (_item: unknown, cause: unknown) => console.error(cause);
  await buildApp({ messaging, dataset, clock: { now: () => Date.now() }, onFailure }).start();
  return generation;
}

if (role === "pod" && url !== undefined && podFolder !== undefined) {
  await serve(await createNatsMessaging({ servers: url, name: "ip-routing", onError: console.error }), podFolder);
  process.send?.("ready");
} else if (role === "socket" && url !== undefined) await sendBytes(new URL(url));
else await main();

/** Sends as many messages as its parent asks for. */
async function sendBytes({ hostname, port }: URL): Promise<void> {
  const socket = await openSocket(hostname, Number(port), "");
  const head = `PUB bench ${recordsPerMessage * recordBytes}\r\n`;
  const message = Buffer.from(`${head}${"x".repeat(recordsPerMessage * recordBytes)}\r\n`);
  process.on("message", async (count: number) => {
    for (let sent = 0; sent < count; sent++) if (!socket.write(message)) await once(socket, "drain");
  });
  process.send?.("ready");
}

/** A connection without client; `onBytes` is told how many came. */
async function openSocket(host: string, port: number, commands: string, onBytes: (bytes: number) => void = () => {}): Promise<Socket> {
  const onread = {
    buffer: Buffer.alloc(256 * 1_024),
    callback: (bytes: number) => {
      onBytes(bytes);
      return true;
    },
  };
  const socket = connect({ host, port, noDelay: true, onread });
  await once(socket, "connect");
  socket.write(`CONNECT {"verbose":false}\r\n${commands}PING\r\n`);
  return socket;
}

/** Another process of this program, once it is ready. */
async function startPeer(...args: string[]): Promise<ChildProcess> {
  const peer = spawn(process.execPath, [...process.execArgv, self, ...args], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  await once(peer, "message");
  return peer;
}

async function main(): Promise<void> {
  const data = requireData();
  const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  const server = await startNatsServer({ own: true });
  const peers: ChildProcess[] = [];
  try {
    await importModern(data, folder);
    const pod = await startPeer("pod", server.url, folder);
    peers.push(pod);
    const sender = await startPeer("socket", server.url);
    peers.push(sender);
    const inProcess = createInProcessMessaging();
    const generation = await serve(inProcess, folder);
    const overNats = await createNatsMessaging({ servers: server.url, name: "bench" });
    const texts = addressTexts(data, 100_000);

    let bytes = 0;
    const noMeta = encodeQuery("ip", anyAddress, { ...wholeRecord, meta: false }).slice(encodeQuery("ip", anyAddress, wholeRecord).length);
    const side =
      (messaging: Messaging, view = "") =>
      async (): Promise<number> => {
        let next = 0;
        const askBatches = async () => {
          while (next < batchesPerRound) {
            const first = (next++ * batchAddresses) % texts.length;
            const replies = await Promise.all(texts.slice(first, first + batchAddresses).map((text) => askOne(messaging, text + view)));
            for (const { status, body, ending } of replies) {
              if (status !== 200) throw new Error(`status ${status}`);
              bytes += body.length + (ending?.length ?? 0);
            }
          }
        };
        await Promise.all(Array.from({ length: batchesAtOnce }, askBatches));
        return batchesPerRound * batchAddresses;
      };

    let onBytes = (_bytes: number) => {};
    const receiver = await openSocket("127.0.0.1", server.port, "SUB bench 1\r\n", (came) => onBytes(came));
    const bareSockets = async (): Promise<number> => {
      const messages = Math.ceil((batchesPerRound * batchAddresses) / recordsPerMessage);
      let left = messages * recordsPerMessage * recordBytes;
      const arrived = new Promise<void>((resolve) => {
        onBytes = (came) => {
          left -= came;
          if (left <= 0) resolve();
        };
      });
      sender.send(messages);
      await arrived;
      return messages * recordsPerMessage;
    };

    /** Microseconds of processor time per address, of each round: this process, the other one, nats-server. */
    const processorTime = new Map<string, number[][]>();
    const measured = (name: string, other: ChildProcess, run: () => Promise<number>) => {
      const pids = [process.pid, other.pid ?? -1, server.pid ?? -1];
      const of: number[][] = [];
      processorTime.set(name, of);
      const timed = async () => {
        const before = pids.map(cpuSeconds);
        const done = await run();
        of.push(pids.map((pid, index) => ((cpuSeconds(pid) - (before[index] as number)) * 1e6) / done));
        return done;
      };
      return { name, run: timed };
    };
    const results = await interleave(
      [
        measured("in process", pod, side(inProcess)),
        measured("over NATS", pod, side(overNats)),
        measured("over NATS, without meta", pod, side(overNats, noMeta)),
        measured("bare sockets, without questions", sender, bareSockets),
      ],
      rounds,
      2,
    );
    const microseconds = Object.fromEntries(
      [...processorTime].map(([name, all]) => [name, [0, 1, 2].map((index) => median(all.slice(2).map((each) => each[index] as number)))]),
    );
    console.log("\nµs of processor time per address: asking or receiving process, the other one, nats-server");
    for (const [name, times] of Object.entries(microseconds)) console.log(name.padEnd(34), times.map((time) => time.toFixed(2)).join(", "));
    const asked = (rounds + 2) * 3 * batchesPerRound * batchAddresses;
    printResults("P4 batches of 1,000 addresses", "addresses/s", results, {
      bytesPerRecord: Math.round(bytes / asked),
      routes: generation.routes?.prefixes.base.size,
      microseconds,
    });
    receiver.destroy();
    await overNats.close();
    await inProcess.close();
  } finally {
    for (const peer of peers) peer.kill();
    await server.stop();
    await rm(folder, { recursive: true });
  }
}
