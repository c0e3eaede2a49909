/** Waits until a run of ingest succeeded, and starts one if none runs. Ends with status 1 when that run fails or time is up. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const { INGEST_URL, PROXY_TOKEN_FILE, TIMEOUT_SECONDS } = process.env;
const runs = `${INGEST_URL}/admin/v1/ingest/runs`;
const headers = { "x-netfacts-proxy-token": readFileSync(PROXY_TOKEN_FILE, "utf8").trim() };
const until = performance.now() + Number(TIMEOUT_SECONDS) * 1_000;
/** The last reason why there is no answer yet; each is printed once. */
let waitsFor = "";

/** The answer's status and body; null while ingest cannot be reached, or says that it will be able to answer later. */
async function ask(url, method = "GET") {
  let reason;
  try {
    const response = await fetch(url, { method, headers, signal: AbortSignal.timeout(10_000) });
    const body = await response.json();
    if (response.ok || response.status === 409) return { status: response.status, body };
    if (response.status < 500) fail(`ingest refuses the request: ${response.status} ${body.code}: ${body.detail ?? body.title}`);
    reason = `${response.status} ${body.code ?? ""}`;
  } catch (error) {
    reason = error.cause?.code ?? error.message;
  }
  if (reason !== waitsFor) console.log(`waiting for ingest: ${reason}`);
  waitsFor = reason;
  return null;
}

function fail(text) {
  console.error(text);
  process.exit(1);
}

/** The run that this program started. */
let started = null;
for (;;) {
  const list = await ask(`${runs}?limit=100`);
  const items = list?.body.items ?? [];
  const done = items.find(({ state }) => state === "succeeded");
  if (done !== undefined) {
    console.log(`run ${done.id} succeeded: its data are in service`);
    break;
  }
  const own = items.find(({ id }) => id === started);
  if (own?.state === "failed") fail(`run ${own.id} failed: ${own.error ?? "see the log of ingest"}`);
  if (list !== null && started === null && !items.some(({ state }) => state === "running")) {
    const answer = await ask(runs, "POST");
    if (answer?.status === 202) {
      started = answer.body.id;
      console.log(`started run ${started}`);
    }
  }
  if (performance.now() > until) fail(`no run succeeded within ${TIMEOUT_SECONDS} s; see the log of ingest`);
  await sleep(2_000);
}
