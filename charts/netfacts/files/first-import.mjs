/**
 * Waits until a run of ingest succeeded, and starts one if none runs; then until every source of the list was checked. Ends with status 1
 * when that run fails, when the list has errors, when a required source of it cannot be used, or when time is up.
 */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** `SOURCES`: the list, as ingest reads it. `SCHEDULED`: "false" if ingest checks sources only when a run is started. */
const { INGEST_URL, PROXY_TOKEN_FILE, TIMEOUT_SECONDS, SOURCES = "", SCHEDULED } = process.env;
const runs = `${INGEST_URL}/admin/v1/ingest/runs`;
const headers = { "x-netfacts-proxy-token": readFileSync(PROXY_TOKEN_FILE, "utf8").trim() };
const until = performance.now() + Number(TIMEOUT_SECONDS) * 1_000;
/** The last reason why there is no answer yet; each is printed once. */
let waitsFor = "";

function wait(reason) {
  if (reason !== waitsFor) console.log(`waiting for ingest: ${reason}`);
  waitsFor = reason;
}

/** The answer's status and body; null while ingest cannot be reached, or says that it will be able to answer later. */
async function ask(url, method = "GET") {
  try {
    const response = await fetch(url, { method, headers, signal: AbortSignal.timeout(10_000) });
    const body = await response.json();
    if (response.ok || response.status === 409) return { status: response.status, body };
    if (response.status < 500) fail(`ingest refuses the request: ${response.status} ${body.code}: ${body.detail ?? body.title}`);
    wait(`${response.status} ${body.code ?? ""}`);
  } catch (error) {
    wait(error.cause?.code ?? error.message);
  }
  return null;
}

function fail(text) {
  console.error(text);
  process.exit(1);
}

/** The sources of the list, once ingest has it; null until then. Ends the program when the list has errors. */
async function listedSources() {
  const answer = await ask(`${INGEST_URL}/admin/v1/ingest/sources`);
  if (answer === null) return null;
  const { items, faults, list_sha256: digest } = answer.body;
  // Until its rollout ends, the ingest of the release before may answer. A list that only ingest can see is not compared.
  if (existsSync(SOURCES) && createHash("sha256").update(readFileSync(SOURCES)).digest("hex") !== digest) {
    wait("it does not have this list of sources yet");
    return null;
  }
  if (faults.length > 0) fail(`the list of sources has errors: ${faults.join("; ")}`);
  return items;
}

/** Whether all sources were checked. Ends the program when a required one cannot be used. */
function areChecked(sources) {
  if (SCHEDULED === "false") return true;
  for (const { name, required, format, schedule } of sources) {
    if (format === "rtr") continue;
    if (schedule?.checked_at == null) {
      wait(`source ${name} was not checked yet`);
      return false;
    }
    // A server that answered before may be away for a moment, and its data stay in service.
    const fault = schedule.refused ?? (schedule.succeeded_at === null ? schedule.error : null);
    if (required && fault !== null) fail(`source ${name} cannot be used: ${fault}`);
  }
  return true;
}

/** The run that this program started. */
let started = null;
/** Looks in a row at which all sources were checked and no run was in progress: between a check and its run lies a moment. */
let quietLooks = 0;
for (;;) {
  const sources = await listedSources();
  const list = sources === null ? null : await ask(`${runs}?limit=100`);
  const items = list?.body.items ?? [];
  const isRunning = items.some(({ state }) => state === "running");
  const done = items.find(({ state }) => state === "succeeded");
  if (done !== undefined) {
    quietLooks = areChecked(sources) && !isRunning ? quietLooks + 1 : 0;
    if (quietLooks > 1) {
      console.log(`run ${done.id} succeeded: its data are in service`);
      break;
    }
  } else {
    const own = items.find(({ id }) => id === started);
    if (own?.state === "failed") fail(`run ${own.id} failed: ${own.error ?? "see the log of ingest"}`);
    if (list !== null && started === null && !isRunning) {
      const answer = await ask(runs, "POST");
      if (answer?.status === 202) {
        started = answer.body.id;
        console.log(`started run ${started}`);
      }
    }
  }
  if (performance.now() > until)
    fail(`${done === undefined ? "no run succeeded" : "not all sources were checked"} within ${TIMEOUT_SECONDS} s; see the log of ingest`);
  await sleep(2_000);
}
