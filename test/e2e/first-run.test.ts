/** The first minutes of a newcomer: clone, `make up`, the printed curl; then the second start, a second instance, Ctrl-C. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { freePorts } from "../support/free-ports.ts";
import { groupLives, Newcomer, type Started, untilPrinted } from "./newcomer.ts";

/** Node and packages come from the registry, over whatever line the machine has. */
const firstStartMs = 600_000;
const startMs = 60_000;

let newcomer: Newcomer;
let ports: { PORT: string; TELEMETRY_PORT: string };
let first: Started;
let curlLine: string;

beforeAll(async () => {
  newcomer = new Newcomer();
  const [port, telemetryPort] = await freePorts(2);
  ports = { PORT: String(port), TELEMETRY_PORT: String(telemetryPort) };
  first = newcomer.start("make", ["up"], ports);
  await untilPrinted(first, /^ready/m);
  curlLine = (await untilPrinted(first, /^curl .*$/m))[0];
}, firstStartMs);

afterAll(() => newcomer?.remove(), startMs);

/** Runs the printed line as it would be pasted. */
async function paste(line: string): Promise<{ status: number; record: unknown }> {
  const started = newcomer.start("sh", ["-c", `${line} -w '\\n%{http_code}'`]);
  await started.ended;
  const [body = "", status = ""] = started.printed.out.trimEnd().split(/\n(?=\d+$)/);
  return { status: Number(status), record: JSON.parse(body) };
}

/** Lines on standard error, without make's own. */
function complaints({ printed }: Started): string[] {
  return printed.err.split("\n").filter((line) => line !== "" && !/^(make|gmake)\b/.test(line));
}

test("the printed line answers: announced, with an RPKI state", async () => {
  expect(await paste(curlLine)).toMatchObject({
    status: 200,
    record: { routing: { announced: true }, rpki: { state: expect.stringMatching(/^(valid|invalid|not-found)$/) } },
  });
});

test("the questions of the README answer: the wrong one with a suggestion, the others with a record", async () => {
  const readme = readFileSync(join(newcomer.clone, "README.md"), "utf8");
  const key = /nf_live_\w+/.exec(curlLine)?.[0] ?? "";
  const lines = readme.match(/^curl .*$/gm) ?? [];
  const answers = await Promise.all(
    lines.map((line) => paste(line.replace("$NETFACTS_KEY", key).replace("$NETFACTS_URL", `http://127.0.0.1:${ports.PORT}`))),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400]);
  expect(answers.at(-1)?.record).toMatchObject({ errors: [{ suggestion: "193.0.0.0/21" }] });
});

test("state and downloads stay where they are told to be", () => {
  expect(existsSync(join(newcomer.clone, ".netfacts"))).toBe(true);
  const changed = newcomer.start("git", ["status", "--porcelain"]);
  return changed.ended.then(() => expect(changed.printed.out).toBe(""));
});

describe("a second instance ends with one line that names the owner", () => {
  test("on the same folder", async () => {
    const [port, telemetryPort] = await freePorts(2);
    const second = newcomer.start("make", ["up"], { PORT: String(port), TELEMETRY_PORT: String(telemetryPort) });
    expect(await second.ended).not.toBe(0);
    const lines = complaints(second);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/process \d+/);
  });

  test("on the same port", async () => {
    const second = newcomer.start("make", ["up"], { ...ports, NETFACTS_HOME: join(newcomer.folder, "other") });
    expect(await second.ended).not.toBe(0);
    const lines = complaints(second);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`port ${ports.PORT} .*process \\d+`));
  });
});

test("Ctrl-C prints stopped and leaves no process", async () => {
  process.kill(-first.pid, "SIGINT");
  await first.ended;
  expect(first.printed.out.trimEnd().split("\n").at(-1)).toBe("stopped");
  expect(groupLives(first.pid)).toBe(false);
});

describe("the second start", () => {
  let second: Started;
  const connections = (): string => join(newcomer.folder, "connections.txt");

  beforeAll(async () => {
    for (const name of ["npm", "pip", "pip3"]) newcomer.program(name, `echo "${name} $*" >>"${newcomer.folder}/connections.txt"; exit 1`);
    // Not through make, which ends itself by the signal: the status is the service's own.
    second = newcomer.start(join(newcomer.clone, "scripts/run.sh"), ["services/standalone/src/main.ts"], {
      ...ports,
      NODE_OPTIONS: `--import=${newcomer.bring(join(import.meta.dirname, "record-connections.ts"))}`,
      RECORD_CONNECTIONS: connections(),
    });
    await untilPrinted(second, /^ready/m);
  }, startMs);

  test("imports nothing and makes no key, and says how to make one", () => {
    expect(second.printed.out).not.toMatch(/import(ing|ed) |nf_live_/);
    expect(second.printed.out).toContain("bin/netfacts keys create");
  });

  test("answers with the key of the first", async () => {
    expect((await paste(curlLine)).status).toBe(200);
  });

  test("turns to nobody outside loopback", () => {
    expect(existsSync(connections()) ? readFileSync(connections(), "utf8") : "").toBe("");
  });

  test(
    "ends on SIGINT with stopped, status 0 and no process left",
    async () => {
      process.kill(-second.pid, "SIGINT");
      expect(await second.ended).toBe(0);
      expect(second.printed.out.trimEnd().split("\n").at(-1)).toBe("stopped");
      expect(groupLives(second.pid)).toBe(false);
    },
    startMs,
  );
});
