/** Telemetry as processes send it: instrumentation sees nothing inside Jest. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { type OtlpReceiver, type Span, startOtlpReceiver } from "../../../test/support/otlp-receiver.ts";
import { testProgramArgs } from "../../../test/support/programs.ts";
import { readTelemetrySettings } from "../src/telemetry-settings.ts";

const program = testProgramArgs("libs/runtime/test/support/traced-server-process.ts");
const secret = "abcdefghijklmnopqrstuvwxyzABCDEF012345";
const key = `nf_live_0123ABCD_${secret}`;

/** Of what a stop takes with a collector that does not answer: it waits for 1.5 s, and the exporter by itself for 10 s. */
const stopMaxMs = 6_000;

interface Traced {
  readonly url: string;
  readonly operationsUrl: string;
  readonly loaded: boolean;
  /** Lines of its log. */
  log(): Record<string, unknown>[];
  /** SIGTERM. @returns milliseconds until its end. */
  stop(): Promise<number>;
}

const children: ChildProcess[] = [];
/** Those of several tests. */
const shared: ChildProcess[] = [];
let receiver: OtlpReceiver;

beforeEach(async () => {
  receiver = await startOtlpReceiver();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await receiver.stop();
});

function launch(env: Readonly<Record<string, string>>): ChildProcess & { output: { out: string; err: string } } {
  const child = spawn(process.execPath, program, {
    env: { ...compileCache, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => (output.out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (output.err += text));
  return Object.assign(child, { output });
}

async function start(env: Readonly<Record<string, string>>): Promise<Traced> {
  const child = launch(env);
  const { output } = child;
  await Promise.race([once(child.stdout as NodeJS.ReadableStream, "data"), once(child, "exit")]);
  if (output.out === "") throw new Error(`did not start: ${output.err}`);
  return {
    ...(JSON.parse(output.out) as Pick<Traced, "url" | "operationsUrl" | "loaded">),
    log: () =>
      output.err
        .trimEnd()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    async stop() {
      const started = performance.now();
      child.kill("SIGTERM");
      const [status] = await once(child, "exit");
      if (status !== 0) throw new Error(`ended with ${status}: ${output.err}`);
      return performance.now() - started;
    },
  };
}

async function ask(url: string): Promise<void> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
}

/** A line leaves at the end of its turn, which may be after the answer. */
async function firstLines(traced: Traced, count: number): Promise<Record<string, unknown>[]> {
  const deadline = performance.now() + 10_000;
  while (traced.log().length < count && performance.now() < deadline) await sleep(5);
  return traced.log();
}

/** The line of the request of this trace. */
async function lineOfTrace(traced: Traced, traceId: string): Promise<Record<string, unknown> | undefined> {
  const find = () => traced.log().find(({ trace_id }) => trace_id === traceId);
  const deadline = performance.now() + 10_000;
  while (find() === undefined && performance.now() < deadline) await sleep(5);
  return find();
}

const line = ({ service, kind, name }: Span): string => `${service} ${kind} ${name}`;

test.each(["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])("%s may be in a file", async (name) => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-telemetry-"));
  const path = join(folder, "headers");
  writeFileSync(path, "x-tenant=netfacts,x-token=of-a-file\n");
  const traced = await start({ ...receiver.env, TRACED_SERVICE: "first", [`${name}_FILE`]: path });
  await ask(`${traced.url}/ask/one`);
  await receiver.waitFor((span) => span.kind === "server");
  expect(receiver.headers[0]).toMatchObject({ "x-tenant": "netfacts", "x-token": "of-a-file" });
  rmSync(folder, { recursive: true });
  const child = launch({ ...receiver.env, TRACED_SERVICE: "first", [`${name}_FILE`]: path });
  expect(await once(child, "exit")).not.toEqual([0, null]);
  expect(child.output.err).toContain(`${name}_FILE: ${path} does not exist`);
});

describe("two processes", () => {
  let spans: OtlpReceiver;
  let first: Traced;
  let second: Traced;
  beforeAll(async () => {
    spans = await startOtlpReceiver();
    second = await start({ ...spans.env, TRACED_SERVICE: "second" });
    first = await start({ ...spans.env, TRACED_SERVICE: "first", TRACED_NEXT: second.url });
    shared.push(...children.splice(0));
  });
  afterAll(async () => {
    for (const child of shared) child.kill("SIGKILL");
    await spans.stop();
  });

  /** The span of the first process for a request to this path. */
  const served = (path: string) =>
    spans.waitFor(({ service, kind, attributes }) => service === "first" && kind === "server" && attributes["url.path"] === path);

  test("one request through two processes is one trace", async () => {
    await ask(`${first.url}/ask/one`);
    const top = await served("/ask/one");
    const trace = await spans.waitForTrace(top.traceId, ({ length }) => length === 5);
    const path: string[] = [];
    for (let span: Span | undefined = top; span !== undefined; ) {
      path.push(line(span));
      const { spanId }: Span = span;
      span = trace.find(({ parentSpanId }) => parentSpanId === spanId);
    }
    expect(path).toEqual([
      "first server GET /ask/:what",
      "first internal request",
      "first client GET",
      "second server GET /ask/:what",
      "second internal request",
    ]);
    expect(top.attributes).toMatchObject({ "http.route": "/ask/:what", "http.response.status_code": 200, "url.path": "/ask/one" });

    for (const process of [first, second]) {
      const asked = await lineOfTrace(process, top.traceId);
      expect(asked).toMatchObject({ request_id: "r-1", trace_id: top.traceId });
      expect(trace.map(({ spanId }) => spanId)).toContain(asked?.span_id);
    }
  });

  test("a caller's trace is gone on with, and its baggage goes no further", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    await fetch(`${first.url}/ask/two`, { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01`, baggage: "user=somebody" } });
    expect((await served("/ask/two")).traceId).toBe(traceId);
    await spans.waitFor((span) => span.service === "second" && span.kind === "server" && span.traceId === traceId);
    const lines = await Promise.all([first, second].map((process) => lineOfTrace(process, traceId)));
    expect(lines.map((asked) => asked?.baggage)).toEqual(["user=somebody", undefined]);
  });

  test("an item has a client span below its request and a server span below that, wherever it is answered", async () => {
    await ask(`${first.url}/item/200`);
    const answer = await spans.waitFor(({ name, kind }) => name === "ip-routing/routing" && kind === "server");
    const trace = await spans.waitForTrace(answer.traceId, ({ length }) => length === 4);
    const byId = new Map(trace.map((span) => [span.spanId, span]));
    const path: string[] = [];
    for (let span: Span | undefined = answer; span !== undefined; span = byId.get(span.parentSpanId ?? "")) path.unshift(line(span));
    expect(path).toEqual([
      "first server GET /item/:status",
      "first internal request",
      "first client ip-routing/routing",
      "first server ip-routing/routing",
    ]);
    expect(answer.attributes).toMatchObject({ "rpc.method": "routing", "netfacts.request_id": "r-2", "http.response.status_code": 200 });
    expect(await lineOfTrace(first, answer.traceId)).toMatchObject({ msg: "answering", request_id: "r-2", span_id: answer.spanId });
  });

  test("an item without a reply, or with a fault of ours, is an error in its span; a refusal is none", async () => {
    const ends: unknown[] = [];
    for (const end of ["404", "503", "timeout"]) {
      await ask(`${first.url}/item/${end}`);
      const { traceId } = await served(`/item/${end}`);
      const trace = await spans.waitForTrace(traceId, ({ length }) => length === 4);
      const item = trace.find(({ name, kind }) => name === "ip-routing/routing" && kind === "client");
      ends.push([item?.isError, item?.attributes["error.type"]]);
    }
    expect(ends).toEqual([
      [false, undefined],
      [true, "503"],
      [true, "timeout"],
    ]);
  });

  test("no span holds a key, a credential or a query", async () => {
    await ask(`${first.url}/ask/${key}?key=${key}&token=${secret}`);
    await ask(`${first.url}/fail?token=${key}`);
    const { traceId } = await served("/ask/nf_live_0123ABCD_[redacted]");
    await spans.waitForTrace(traceId, ({ length }) => length === 5);
    await spans.waitFor(({ name, kind }) => name === "GET /fail" && kind === "server");
    await first.stop();
    const sent = Buffer.concat(spans.bodies).toString();
    expect(sent).toContain("nf_live_0123ABCD_[redacted]");
    expect(sent).not.toContain(secret);
    expect(sent).not.toContain("limit=1");
  });
});

test("a request that is not sampled has no span, nor has its item", async () => {
  const traced = await start({ ...receiver.env, OTEL_TRACES_SAMPLER: "always_off" });
  await ask(`${traced.url}/ask/one`);
  const answer = await fetch(`${traced.url}/item/200`);
  expect(await answer.json()).toEqual({ sampled: false });
  await traced.stop();
  expect(receiver.bodies).toEqual([]);
});

test("metrics and health make no spans", async () => {
  const traced = await start({ ...receiver.env });
  for (const path of ["/metrics", "/healthz", "/readyz?verbose"]) await ask(traced.operationsUrl + path);
  await ask(`${traced.url}/ask/one`);
  await traced.stop();
  expect(receiver.spans.map(line).sort()).toEqual(["traced internal request", "traced server GET /ask/:what"]);
});

test("without an endpoint nothing of it is loaded, and logs have no trace", async () => {
  const traced = await start({ TRACED_NEXT: "" });
  expect(traced.loaded).toBe(false);
  await ask(`${traced.url}/ask/one`);
  expect(await firstLines(traced, 1)).toEqual([expect.not.objectContaining({ trace_id: expect.anything() })]);
});

test.each([
  ["OTEL_SDK_DISABLED", "true"],
  ["OTEL_TRACES_EXPORTER", "none"],
])("%s=%s switches it off", async (name, value) => {
  const traced = await start({ ...receiver.env, [name]: value });
  expect(traced.loaded).toBe(false);
});

test("the standard variables decide on name and attributes", async () => {
  const named = await start({ ...receiver.env, OTEL_SERVICE_NAME: "other", OTEL_RESOURCE_ATTRIBUTES: "k8s.pod.name=pod-1" });
  await ask(`${named.url}/ask/one`);
  await named.stop();
  expect(new Set(receiver.spans.map(({ service }) => service))).toEqual(new Set(["other"]));
  expect(receiver.bodies.every((body) => body.includes("pod-1"))).toBe(true);
});

test("speaks protobuf unless told otherwise, and refuses what it does not speak", async () => {
  const traced = await start({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
    // Does not count beside the other one.
    OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317",
  });
  await ask(`${traced.url}/ask/one`);
  await traced.stop();
  expect(receiver.spans).toEqual([]);
  expect(Buffer.concat(receiver.bodies).toString("latin1")).toContain("GET /ask/:what");

  const refused = launch({ ...receiver.env, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
  const [status] = await once(refused, "close");
  expect(status).toBe(2);
  expect(refused.output.err).toBe('OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json, not "grpc"\n');
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", " "],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:port"],
])("refuses %s=%s, for which the exporter would send to this machine", async (name, value) => {
  const refused = launch({ [name]: value });
  // If it starts after all.
  refused.stdout?.once("data", () => refused.kill("SIGKILL"));
  const [status] = await once(refused, "close");
  expect(status).toBe(2);
  expect(refused.output.err).toBe(`${name} must be an http or https URL, not ${JSON.stringify(value)}\n`);
});

test("refuses samplers, ratios and propagators that the SDK would replace by its defaults", async () => {
  const refused = launch({
    ...receiver.env,
    ...{ OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "10%", OTEL_PROPAGATORS: "tracecontext, jaeger" },
  });
  const other = launch({ ...receiver.env, OTEL_TRACES_SAMPLER: "TraceIdRatio", OTEL_TRACES_SAMPLER_ARG: "2" });
  // If they start after all.
  for (const each of [refused, other]) each.stdout?.once("data", () => each.kill("SIGKILL"));
  expect(await Promise.all([once(refused, "close"), once(other, "close")])).toEqual([
    [2, null],
    [2, null],
  ]);
  expect(refused.output.err).toBe(
    'OTEL_TRACES_SAMPLER_ARG must be from 0 to 1, not "10%"\n' +
      'OTEL_PROPAGATORS must be a list of tracecontext, baggage, b3, b3multi, none, not "tracecontext, jaeger"\n',
  );
  expect(other.output.err).toBe(
    "OTEL_TRACES_SAMPLER must be one of always_on, parentbased_always_on, always_off, parentbased_always_off, traceidratio, " +
      'parentbased_traceidratio, not "TraceIdRatio"\n',
  );
});

test.each(["OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_EXPORTER_OTLP_TIMEOUT"])(
  "refuses a %s that is no number above 0, which the SDK would replace by its default",
  (name) => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
    for (const wrong of ["5s", "1,5", "-1", "0"])
      expect(() => readTelemetrySettings({ ...endpoint, [name]: wrong })).toThrow(
        `${name} must be a whole number above 0, without a unit, not "${wrong}"`,
      );
    readTelemetrySettings({ ...endpoint, [name]: " 5000 " });
  },
);

test("refuses headers that the exporter would leave out, and shows nothing of them", () => {
  const read = (text: string, name = "OTEL_EXPORTER_OTLP_HEADERS") =>
    readTelemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", [name]: text });
  for (const [wrong, entry] of [
    ["authorization: Bearer hunter2", 1],
    ['"authorization=Bearer hunter2"', 1],
    ["a=b,hunter2", 2],
    ["a b=hunter2", 1],
    ["authorization=hunter2%", 1],
    ["authorization= ", 1],
    ["a=b,cookie=c=d;hunter2", 2],
  ] as const) {
    expect(() => read(wrong)).toThrow(`OTEL_EXPORTER_OTLP_HEADERS must be a list of name=value with percent-encoded values`);
    expect(() => read(wrong)).toThrow(`; entry ${entry} is not`);
    expect(() => read(wrong)).not.toThrow(/hunter2/);
  }
  expect(() => read("x", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")).toThrow(/^OTEL_EXPORTER_OTLP_TRACES_HEADERS must be/);
  for (const right of ["", "authorization=Bearer%20t", "authorization=Bearer t, x-tenant = a,", "authorization=Basic dTpw=="]) read(right);
});

test("takes a comma behind the last propagator, as the SDK does", async () => {
  const traced = await start({ ...receiver.env, OTEL_PROPAGATORS: "tracecontext," });
  await traced.stop();
});

test("a collector that refuses is told once, and once that it takes spans again", async () => {
  receiver.answerWith(400);
  const traced = await start({ ...receiver.env });
  const messages = () => traced.log().flatMap(({ msg }) => (msg === "asked" ? [] : [msg]));
  for (let round = 1; round <= 3; round += 1) {
    await ask(`${traced.url}/ask/one`);
    while (receiver.bodies.length < round) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(messages()).toEqual(["traces cannot be exported"]);
  // Of no request.
  expect(traced.log().find(({ msg }) => msg === "traces cannot be exported")).not.toHaveProperty("trace_id");
  receiver.answerWith(200);
  await ask(`${traced.url}/ask/two`);
  await receiver.waitFor(({ attributes }) => attributes["url.path"] === "/ask/two");
  await traced.stop();
  expect(messages()).toEqual(["traces cannot be exported", "traces are exported again", "stopping"]);
});

test("a stop does not wait for a collector that is not there", async () => {
  const traced = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
  for (let round = 0; round < 20; round += 1) await ask(`${traced.url}/ask/one`);
  expect(await traced.stop()).toBeLessThan(stopMaxMs);
  expect(traced.log().filter(({ msg }) => msg !== "asked").length).toBeLessThanOrEqual(2);
});

test("nor for one that takes connections and says nothing", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  try {
    const { port } = silent.address() as { port: number };
    const traced = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    await ask(`${traced.url}/ask/one`);
    expect(await traced.stop()).toBeLessThan(stopMaxMs);
    expect(sockets.length).toBeGreaterThan(0);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});
