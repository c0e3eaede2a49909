/** One trace of one request, through two services' processes, a real nats-server and a real MongoDB-protocol server. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { generateKeyText } from "@netfacts/keys";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { until } from "../../../test/support/http.ts";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import { type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { type OtlpReceiver, type Span, startOtlpReceiver } from "../../../test/support/otlp-receiver.ts";

const startMsMax = 120_000;
let receiver: OtlpReceiver;
let nats: NatsServer;
let mongodb: Mongodb;
const children: ChildProcess[] = [];

interface Service {
  log(): Record<string, unknown>[];
  text(): string;
  stop(): Promise<number>;
}

beforeAll(async () => {
  [receiver, nats, mongodb] = await Promise.all([startOtlpReceiver(), startNatsServer(), startMongodb()]);
}, startMsMax);

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all([receiver?.stop(), nats?.stop(), mongodb?.stop()]);
});

async function start(program: string): Promise<Service> {
  const path = fileURLToPath(new URL(`support/${program}.ts`, import.meta.url));
  const env = {
    ...compileCache,
    ...receiver.env,
    TELEMETRY_PORT: "0",
    NATS_URL: nats.url,
    MONGODB_URI: mongodb.database(`trace_${randomUUID().slice(0, 8)}`),
  };
  const child = spawn(process.execPath, ["--conditions=source", path], { env, stdio: ["ignore", "ignore", "pipe"] });
  children.push(child);
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (more) => (text += more));
  const log = () =>
    text
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const ended = once(child, "close");
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`did not start: ${text}`);
      return log().some(({ msg }) => msg === "started");
    },
    { timeoutMs: 200_000 },
  );
  return {
    log,
    text: () => text,
    async stop() {
      child.kill("SIGTERM");
      const [status] = await ended;
      return status;
    },
  };
}

test(
  "a request is one trace from HTTP to MongoDB, and over NATS to the responder; logs name it, and no secret is in either",
  async () => {
    const answering = await start("answering-service");
    const asking = await start("asking-service");
    const url = String(asking.log().find(({ msg }) => msg === "listening")?.url);
    const key = generateKeyText("live").text;
    const answer = await fetch(`${url}/routing/193.0.6.139?key=${key}`, { headers: { authorization: `Bearer ${key}` } });
    expect(await answer.json()).toEqual({ ip: "193.0.6.139" });

    const last = await receiver.waitFor(({ service, kind }) => service === "ip-routing" && kind === "server");
    const trace = await receiver.waitForTrace(
      last.traceId,
      (spans) => spans.some(({ kind, parentSpanId }) => kind === "server" && parentSpanId === null) && spans.length >= 5,
    );
    const byId = new Map(trace.map((span) => [span.spanId, span]));
    const pathTo = (end: Span): string[] => {
      const path: string[] = [];
      for (let span: Span | undefined = end; span !== undefined; span = byId.get(span.parentSpanId ?? "")) {
        path.unshift(`${span.service} ${span.kind} ${span.name}`);
      }
      return path;
    };
    const request = ["gateway-auth-quota server GET /routing/:ip", "gateway-auth-quota internal request"];
    expect(pathTo(last)).toEqual([...request, "gateway-auth-quota client ip-routing/routing", "ip-routing server ip-routing/routing"]);
    const inStore = trace.filter(({ attributes }) => attributes["db.system"] ?? attributes["db.system.name"]);
    expect(inStore.map(pathTo)).toEqual([[...request, expect.stringMatching(/^gateway-auth-quota client /)]]);

    expect(asking.log().find(({ msg }) => msg === "request")).toMatchObject({ trace_id: last.traceId });
    expect(answering.log().find(({ msg }) => msg === "answering")).toMatchObject({ trace_id: last.traceId, span_id: last.spanId });

    expect(await asking.stop()).toBe(0);
    expect(await answering.stop()).toBe(0);
    const secret = key.split("_")[3] ?? "";
    expect(secret.length).toBeGreaterThan(30);
    for (const text of [Buffer.concat(receiver.bodies).toString(), asking.text(), answering.text()]) expect(text).not.toContain(secret);
  },
  startMsMax,
);
