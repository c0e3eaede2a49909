/** schemathesis against the distributed form: each answer to questions that fit the OpenAPI documents, and to those that do not, is as they say. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { toolOrNotRun } from "../support/debian.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { type RecursiveDns, startRecursiveDns } from "../support/recursive-dns.ts";
import { isLong, runs, seed } from "../support/runs.ts";
import { findSchemathesis, schemathesisArguments } from "../support/schemathesis.ts";
import { resolverSettings } from "./questions.ts";

const tool = toolOrNotRun(await findSchemathesis(), "schemathesis", 2);
const checked = tool === null ? test.skip : test;
/** Its own bound; a machine that is slower only tries less. */
const secondsMax = isLong ? 60 : 8;
/** Random requests to each operation, beside those that try each rule of the document once. */
const examplesMax = runs(25, 8);

const home = temporaryFolder();
let dns: RecursiveDns;
let all: Distributed;
beforeAll(async () => {
  dns = await startRecursiveDns();
  all = await startDistributed({
    replicas: { ingest: 1 },
    settings: { RESOLVERS: dns.address, ...resolverSettings, FAILED_KEYS_MAX: "1000000", KEY_TRIES_MAX: "1000000" },
  });
});
afterAll(async () => {
  await all?.stop();
  await dns?.stop();
  await endAll();
  removeFolders();
});

/** What it prints where it found something, or could not look; else nothing. */
async function findingsAt(url: string, secret: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  if (tool === null) throw new Error("schemathesis is not there");
  const config = join(home, "schemathesis.toml");
  await writeFile(
    config,
    `seed = ${seed(6811)}
workers = 1
color = false
max-time = ${secondsMax}
# A question about the past may wait for ten seconds, the default, before it is refused.
request-timeout = 30
hooks = ${JSON.stringify(join(import.meta.dirname, "../support/schemathesis-hooks.py"))}
[output.truncation]
enabled = false
[generation]
max-examples = ${examplesMax}
database = "none"
[auth.openapi.apiKey]
bearer = "${secret}"
[checks.negative_data_rejection]
# Its own, and those that tell what is too long.
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "414", "415", "422", "428", "429", "431", "5xx"]
# A question that cannot be read has its problem in its place, in an answer of status 200.
[[operations]]
include-path = "/api/v1/batch"
checks.negative_data_rejection.enabled = false
# That exactly one parameter is given, and how much of an upload is stored, no document can say.
[[operations]]
include-path-regex = "^/admin/v1/ingest/observations"
checks.positive_data_acceptance.enabled = false
checks.negative_data_rejection.enabled = false
# Whether there is such a plan, whether a moment is to come, and what is a URL or one line of text, no document can say.
[[operations]]
include-path-regex = "^/admin/v1/(keys|profiles)"
checks.positive_data_acceptance.enabled = false
`,
  );
  const child = spawn(tool.command, [...schemathesisArguments(tool), "--config-file", config, "run", `${url}/openapi.json`], {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: home, PYTHONDONTWRITEBYTECODE: "1", ...tool.env, ...env },
  });
  const bound = setTimeout(() => child.kill("SIGKILL"), 4 * secondsMax * 1_000);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  clearTimeout(bound);
  const looked = child.exitCode === 0 && /\d+ generated/.test(out) && !out.includes("Authentication failed");
  return looked ? "" : `status ${child.exitCode}\n${out}${err}`;
}

async function newKey(...options: string[]): Promise<{ id: string; secret: string }> {
  const limits = ["--label", "schemathesis", "--rate", "1000000", "--month", "100000000"];
  return await netfactsJsonWith(all.env, home, "keys", "create", ...limits, ...options);
}

checked("nothing is found in the public API", async () => {
  const { secret } = await newKey();
  expect(await findingsAt(all.gateways[0]?.url ?? "", secret)).toBe("");
});

checked("nothing is found in the operators' API", async () => {
  const own = await newKey("--scopes", "admin");
  const other = await newKey();
  // Those that the examples of the document name.
  for (const plan of ["team", "partner"]) await netfactsJsonWith(all.env, home, "plans", "set", plan, "--rate", "600", "--month", "100000");
  expect(await findingsAt(all.gateways[0]?.operatorUrl ?? "", own.secret, { OWN_KEY_ID: own.id, OTHER_KEY_ID: other.id })).toBe("");
});
