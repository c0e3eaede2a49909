/** What operators see when ingest is away, slow, or of another token, and when they themselves fall silent. */

import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ingestPath } from "@netfacts/contracts";
import { until } from "../../../../test/support/http.ts";
import { keys } from "../support/admin.ts";
import { type OperatorHarness, proxyToken, runsPath, startOperatorHarness } from "../support/operator.ts";
import { expectProblem, provokes } from "../support/provokes.ts";
import { exchange, readAnswers } from "../support/raw.ts";
import { sendJson } from "../support/recording-ingest.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness();
});
afterAll(() => harness.stop());

provokes("upstream_error", "nobody listens where ingest should be", async () => {
  const away = await startOperatorHarness({ INGEST_URL: "http://127.0.0.1:9" });
  const answer = await away.ask("GET", runsPath);
  await away.stop();
  return answer;
});

provokes("upstream_error", "ingest hangs up", () => {
  harness.ingest.answer = (request) => request.socket.destroy();
  return harness.ask("GET", runsPath);
});

provokes("upstream_error", "ingest is of another token: nothing that another key would mend", () => {
  harness.ingest.answer = (request, response) => {
    request.resume();
    sendJson(response, 401, { code: "invalid_api_key" }, { "www-authenticate": "Bearer" });
  };
  return harness.ask("POST", runsPath);
});

test("the log says which tokens must be the same", () => {
  const causes = harness.gateway.log.map(({ fields }) => (fields.err as Error | undefined)?.message);
  expect(causes).toContain("ingest rejected the proxy token; set PROXY_TOKEN to the same value in the gateway and in ingest");
});

provokes("upstream_timeout", "ingest does not answer in time", async () => {
  const hasty = await startOperatorHarness({ INGEST_TIMEOUT_MS: 300 });
  hasty.ingest.answer = () => {};
  const answer = await hasty.ask("GET", runsPath);
  await hasty.stop();
  return answer;
});

test("an answer that is not asked for twice: 503 of ingest goes to the client, once", async () => {
  harness.ingest.requests.length = 0;
  harness.ingest.answer = (_request, response) => sendJson(response, 503, { code: "upstream_unavailable" }, { "retry-after": "0" });
  const answer = await harness.ask("GET", runsPath);
  expect([answer.status, answer.headers["retry-after"], harness.ingest.requests.length]).toEqual([503, "0", 1]);
});

provokes("request_timeout", "an upload that falls silent", async () => {
  const slow = await startOperatorHarness({ OPERATOR_IDLE_MS: 200 });
  slow.ingest.answer = (request) => void request.resume();
  const text = `POST ${runsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${slow.adminKey}\r\nContent-Length: 100\r\n\r\nabc`;
  const [answer] = await exchange(slow.url, text);
  await slow.stop();
  if (answer === undefined) throw new Error("no answer");
  return answer;
});

provokes("request_timeout", "an answer that ingest does not begin within the bound of idle connections", async () => {
  const slow = await startOperatorHarness({ OPERATOR_IDLE_MS: 300 });
  slow.ingest.answer = () => {};
  const sentAt = performance.now();
  const [answer] = await exchange(slow.url, `GET ${runsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${slow.adminKey}\r\n\r\n`);
  expect(performance.now() - sentAt).toBeLessThan(5_000);
  await slow.stop();
  if (answer === undefined) throw new Error("no answer");
  return answer;
});

/** @returns the answer to a body of which a byte comes now and then. */
async function dripped(path: string) {
  const dripping = await startOperatorHarness({ OPERATOR_IDLE_MS: 5_000, REQUEST_TIMEOUT_MS: 300 });
  dripping.ingest.answer = (request) => void request.resume();
  const socket = connect(Number(new URL(dripping.url).port), "127.0.0.1");
  const late = setTimeout(() => socket.destroy(), 10_000);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${dripping.adminKey}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`);
  const drip = setInterval(() => socket.write(" "), 50);
  try {
    const [answer] = await readAnswers(socket);
    if (answer === undefined) throw new Error("no answer");
    return answer;
  } finally {
    clearInterval(drip);
    clearTimeout(late);
    await dripping.stop();
  }
}

provokes("request_timeout", "a key whose body drips", () => dripped(keys));
provokes("request_timeout", "a run whose body drips", () => dripped(runsPath));

// Side by side, each with a gateway of its own: they mostly wait.
test.concurrent("an upload may take as long as it likes while it goes on", async () => {
  const patient = await startOperatorHarness({ OPERATOR_IDLE_MS: 4_000, REQUEST_TIMEOUT_MS: 1_000 });
  const socket = connect(Number(new URL(patient.url).port), "127.0.0.1");
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const key = patient.adminKey;
  const head = `POST ${ingestPath}/observations?source=x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  socket.write(`${head}Content-Length: 12\r\nConnection: close\r\n\r\n`);
  // Twelve bytes in 6 s, which is longer than the idle bound. A busy machine may stand still for 3 s between two bytes.
  for (let sent = 0; sent < 12; sent++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.write("x");
  }
  await closed;
  await patient.stop();
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
});

test.concurrent("a stop waits for an upload that goes on, and not for long", async () => {
  const stopping = await startOperatorHarness();
  stopping.ingest.answer = (request) => void request.resume();
  const socket = connect(Number(new URL(stopping.url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`POST ${runsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stopping.adminKey}\r\nContent-Length: 1000000\r\n\r\n`);
  const sending = setInterval(() => socket.write("x"), 100);
  await until(() => stopping.ingest.requests.length > 0);
  const since = performance.now();
  await stopping.stop();
  clearInterval(sending);
  expect(performance.now() - since).toBeGreaterThan(4_000);
  expect(performance.now() - since).toBeLessThan(10_000);
});

test("neither answers nor logs tell the proxy token or the key's secret", async () => {
  const hasty = await startOperatorHarness({ INGEST_TIMEOUT_MS: 300 });
  const answers = [];
  for (const answer of [null, () => {}, (request: { socket: { destroy(): void } }) => request.socket.destroy()]) {
    hasty.ingest.answer = answer as typeof hasty.ingest.answer;
    answers.push(await hasty.ask("GET", `${runsPath}?a=b`));
  }
  await hasty.stop();
  expectProblem(answers[1] as (typeof answers)[0], "upstream_timeout");
  const told = JSON.stringify([answers, hasty.gateway.log.map(({ fields, ...line }) => [line, inspected(fields)])]);
  expect(told).not.toContain(proxyToken);
  expect(told).not.toContain(hasty.adminKey);
});

/** With what an error holds beneath. */
function inspected(fields: Readonly<Record<string, unknown>>): unknown {
  const { err } = fields as { err?: Error };
  return [fields, err === undefined ? null : [err.message, err.stack, String((err as { cause?: unknown }).cause), { ...err }]];
}
