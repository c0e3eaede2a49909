/** The processes as they are run: two of ingest and a gateway, over NATS and a MongoDB-protocol server; what an operator sees of them. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { generateKeyText } from "@netfacts/keys";
import { request, until } from "../../../test/support/http.ts";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import { type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../../../test/support/otlp-receiver.ts";
import { programArgs } from "../../../test/support/programs.ts";
import { smallSources } from "../../../test/support/small-sources.ts";
import { endAllProcesses, type IngestProcess, type LaunchedProcess, launch, launchProcess } from "./support/launch.ts";
import { proxyToken, runsPath } from "./support/service.ts";

const adminKey = generateKeyText("live").text;

let nats: NatsServer;
let mongodb: Mongodb;
let collector: OtlpReceiver;
let folder: string;
let leader: IngestProcess;
let follower: IngestProcess;
let gateway: LaunchedProcess;
let operatorUrl: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-ingest-main-"));
  [nats, mongodb, collector] = await Promise.all([startNatsServer({ jetstream: true }), startMongodb(), startOtlpReceiver()]);
  const shared = {
    ...collector.env,
    NATS_URL: nats.url,
    MONGODB_URI: mongodb.database(`ingest_main_${process.pid}`),
    SNAPSHOT_BUCKET: `ingest-main-${process.pid}`,
    SOURCES: smallSources(join(folder, "sources"), "NL"),
    // The last test waits for it. A shorter lease would expire when a busy machine stands still.
    INGEST_LEASE_TTL_MS: "6000",
  };
  leader = await launch(programArgs("ingest"), shared);
  follower = await launch(programArgs("ingest"), shared);
  gateway = await launchProcess(programArgs("gateway-auth-quota"), {
    ...collector.env,
    NATS_URL: nats.url,
    MONGODB_URI: shared.MONGODB_URI,
    PORT: "0",
    OPERATOR_PORT: "0",
    ADMIN_KEY: adminKey,
    INGEST_URL: follower.url,
    PROXY_TOKEN: proxyToken,
  });
  operatorUrl = ((await gateway.said("operator listener started")) as { operator_url: string }).operator_url;
});
afterAll(async () => {
  await endAllProcesses();
  await Promise.all([nats?.stop(), mongodb?.stop(), collector?.stop()]);
  rmSync(folder, { recursive: true });
});

const ask = (method: string, path: string, key: string = adminKey) => request(operatorUrl + path, { method, key });
const started = async (): Promise<string> => {
  let id = "";
  await until(async () => {
    const answer = await ask("POST", runsPath);
    if (answer.status === 202) id = answer.json.id;
    return answer.status === 202;
  });
  return id;
};
const ended = async (id: string) => {
  const run = async () => (await ask("GET", `${runsPath}/${id}`)).json;
  // A problem has no state: nobody leads yet, or the proxy reached nobody.
  await until(async () => ![undefined, "running"].includes((await run()).state), { timeoutMs: 120_000 });
  return run();
};

test("a fresh installation imports its sources, and an operator sees the run and the health of the sources", async () => {
  await leader.said("run succeeded");
  const runs = await ask("GET", runsPath);
  expect(runs.json.items).toMatchObject([{ state: "succeeded", started_by: "start", error: null }]);
  const sources = await ask("GET", "/admin/v1/ingest/sources");
  expect(sources.json).toMatchObject({ items: [{ name: "ripencc", state: "read", accepted: 1 }], faults: [] });
  expect(sources.headers.get("ratelimit")).not.toBeNull();
});

test("an operator starts a run through the gateway and a process that does not lead", async () => {
  const id = await started();
  expect(await ended(id)).toMatchObject({ state: "succeeded", started_by: `key:${adminKey.slice(8, 16)}`, report: { unchanged: true } });
  expect(leader.lines().some(({ msg, run }) => msg === "run started" && run === id)).toBe(true);
});

test("other keys see nothing", async () => {
  expect((await ask("GET", runsPath, generateKeyText("live").text)).json.code).toBe("invalid_api_key");
  expect((await request(operatorUrl + runsPath)).json.code).toBe("missing_api_key");
});

test("one trace goes from the operator through the gateway to ingest and its store", async () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  await request(operatorUrl + runsPath, { key: adminKey, headers: { traceparent } });
  const spans = await collector.waitForTrace(traceId, (seen) => {
    const of = (service: string, kind: string) => seen.some((span) => span.service === service && span.kind === kind);
    return of("gateway-auth-quota", "server") && of("gateway-auth-quota", "client") && of("ingest", "server") && of("ingest", "client");
  });
  const server = spans.find(({ service, kind }) => service === "ingest" && kind === "server");
  expect(spans.find(({ spanId }) => spanId === server?.parentSpanId)).toMatchObject({ service: "gateway-auth-quota", kind: "client" });
});

test("metrics tell which process leads", async () => {
  const leads = async (each: IngestProcess) => {
    const { operations_url: url } = (await each.said("started")) as { operations_url: string };
    return /^netfacts_ingest_leads\S* (\d)/m.exec((await request(`${url}/metrics`)).text)?.[1];
  };
  expect([await leads(leader), await leads(follower)]).toEqual(["1", "0"]);
});

test("after kill -9 of the leader the other one takes the next run", async () => {
  await leader.end("SIGKILL");
  await follower.said("this process is now the leader");
  expect(await ended(await started())).toMatchObject({ state: "succeeded" });
});

test("without ingest an operator gets 502, and nothing of where it was", async () => {
  await follower.end("SIGTERM");
  const answer = await ask("GET", runsPath);
  expect([answer.status, answer.json.code]).toEqual([502, "upstream_error"]);
  expect(answer.text).not.toContain(new URL(follower.url).port);
});

test("no log and no span has the admin key's secret or the proxy token", () => {
  for (const body of collector.bodies) for (const secret of [adminKey.slice(17), proxyToken]) expect(body.includes(secret)).toBe(false);
  const logs = JSON.stringify([leader.lines(), follower.lines(), gateway.lines()]);
  expect(logs).toContain(adminKey.slice(0, 16));
  expect(logs).not.toContain(adminKey.slice(17));
  expect(logs).not.toContain(proxyToken);
});
