/** Files and standard output that commands write to: what is replaced, what stays, and what is said when they cannot be written. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { peerIndexRecord, ribRecord } from "../../../libs/mrt/test/support/mrt-writer.ts";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { programArgs } from "../../../test/support/programs.ts";
import { withSamples } from "../../../test/support/sample-snapshot.ts";
import { smallSources } from "../../../test/support/small-sources.ts";
import { syncedBy } from "../../../test/support/synced.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { writeWhole } from "../src/output-file.ts";
import { run, runJson, temporaryFolder } from "./support/run.ts";

const dataDir = temporaryFolder();
afterAll(() => rmSync(dataDir, { recursive: true }));
beforeAll(async () => {
  expect((await run(dataDir, "ingest", "run", "--sources", smallSources(dataDir, "NL"))).code).toBe(exitCodes.ok);
});

const route = ribRecord("11.0.0.0/24", [{ peer: 0, path: "64500 9" }]);

let made = 0;
function newFolder(): string {
  const folder = join(dataDir, `made-${++made}`);
  mkdirSync(folder);
  return folder;
}

/** As the real program, started by a line of a shell in which `NETFACTS` stands for it. */
async function runShell(line: string): Promise<{ code: number | null; err: string }> {
  const program = [process.execPath, ...programArgs("cli"), "--data-dir", dataDir].map((word) => `'${word}'`).join(" ");
  const child = spawn("sh", ["-c", line.replaceAll("NETFACTS", program)], {
    env: { ...process.env, ...compileCache, NODE_NO_WARNINGS: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { code: code as number | null, err };
}

describe("export --output", () => {
  const exported = (file: string) => run(dataDir, "export", "csv", "-o", file);

  test("replaces the file that a link leads to, and the link stays", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "file"), "earlier");
    for (const [link, target] of [
      ["link", "file"],
      ["nowhere", "new"],
    ] as const) {
      symlinkSync(target, join(folder, link));
      expect(await exported(join(folder, link))).toMatchObject({ code: exitCodes.ok, err: "" });
      expect(readlinkSync(join(folder, link))).toBe(target);
      expect(readFileSync(join(folder, target), "utf8")).toMatch(/^first,last,/);
    }
    expect(readdirSync(folder).sort()).toEqual(["file", "link", "new", "nowhere"]);
  });

  test("follows a link that leads nowhere from the folder that holds it, also through a linked folder", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "volume", "sub"), { recursive: true });
    symlinkSync("volume/sub", join(folder, "current"));
    symlinkSync("../new", join(folder, "volume", "sub", "out"));
    expect(await exported(join(folder, "current", "out"))).toMatchObject({ code: exitCodes.ok, err: "" });
    expect(readdirSync(join(folder, "volume")).sort()).toEqual(["new", "sub"]);
    expect(readdirSync(folder).sort()).toEqual(["current", "volume"]);
  });

  test("makes the name of the file safe from a power failure, and needs no folder that can be read for it", async () => {
    const folder = newFolder();
    expect(await syncedBy(() => writeWhole(join(folder, "out"), ["a"]))).toContain("folder");
    chmodSync(folder, 0o300);
    await writeWhole(join(folder, "out"), ["b"]);
    expect(readFileSync(join(folder, "out"), "utf8")).toBe("b");
    chmodSync(folder, 0o700);
  });

  test("writes to a pipe, which stays", async () => {
    const pipe = join(newFolder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const [{ code }, read] = await Promise.all([exported(pipe), readFile(pipe, "utf8")]);
    expect([code, read.slice(0, 11)]).toEqual([exitCodes.ok, "first,last,"]);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  test("leaves no part of a file when a signal ends it, and ends by this signal", async () => {
    const samples = await withSamples(newFolder());
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const folder = newFolder();
      writeFileSync(join(folder, "out"), "earlier");
      const args = [...programArgs("cli"), "--data-dir", samples, "export", "ndjson", "-o", join(folder, "out")];
      // A pipe in place of the partial file: the export cannot end before the signal, since nobody reads the pipe until then.
      const script = 'mkfifo "$0.$$.partial" && exec "$@"';
      const child = spawn("sh", ["-c", script, join(folder, "out"), process.execPath, ...args], {
        env: { ...process.env, ...compileCache },
        stdio: "ignore",
      });
      const exit = once(child, "exit");
      while (readdirSync(folder).length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
      const pipe = createReadStream(join(folder, `out.${child.pid}.partial`));
      await once(pipe, "readable");
      child.kill(signal);
      pipe.resume();
      expect(await exit).toEqual([null, signal]);
      expect(readdirSync(folder)).toEqual(["out"]);
      expect(readFileSync(join(folder, "out"), "utf8")).toBe("earlier");
    }
  });

  test("says which part of a path is wrong, and names no file that the caller did not", async () => {
    const folder = newFolder();
    const none = join(folder, "none", "out");
    expect((await runShell(`NETFACTS export csv -o '${none}'`)).err).toBe(
      `netfacts: ${none} cannot be written: its folder does not exist\n`,
    );
    writeFileSync(join(folder, "none"), "");
    expect((await runShell(`NETFACTS export csv -o '${none}'`)).err).toBe(
      `netfacts: ${none} cannot be written: a part of its path is not a folder\n`,
    );
    expect((await runShell(`NETFACTS export csv -o '${folder}'`)).err).toBe(`netfacts: ${folder} cannot be written: it is a folder\n`);
  });

  test("says that the disk is full, and exits with 5", async () => {
    const folder = newFolder();
    const file = join(folder, "out");
    const { code, err } = await runShell(`ulimit -f 1; exec NETFACTS export csv -o '${file}'`);
    expect({ code, err }).toEqual({ code: exitCodes.unavailable, err: `netfacts: ${file} cannot be written: the disk is full\n` });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("where nobody reads standard output any more", () => {
  const unread = (command: string) => runShell(`{ NETFACTS ${command}; echo "exit $?" >&2; } | :`);

  test.each(["export csv", "export csv --output /dev/stdout"])("%s is no failure", async (command) => {
    expect(await unread(command)).toEqual({ code: 0, err: "exit 0\n" });
  });

  test("a command goes on, and one that fails has its exit code", async () => {
    const folder = newFolder();
    const line = (ip: string) => `${JSON.stringify({ ip, country: "NL", observed_at: "2026-11-01T10:00:00Z" })}\n`;
    writeFileSync(join(folder, "1.ndjson"), line("203.0.113.1"));
    writeFileSync(join(folder, "2.ndjson"), line("203.0.113.2"));
    const { err } = await unread(`observations import ${folder}/1.ndjson ${folder}/2.ndjson ${folder}/missing.ndjson`);
    expect(err).toMatch(/missing\.ndjson.*\nexit 3\n$/s);
    expect((await run(dataDir, "observations", "export", "203.0.113.2")).out).toContain('"upload"');
  });

  test("mrt cat tells of a file that ends inside a record", async () => {
    const file = join(newFolder(), "cut");
    writeFileSync(file, Buffer.concat([peerIndexRecord([{ address: "192.0.2.1", asn: 64500 }]), route, route.subarray(0, 20)]));
    expect((await unread(`mrt cat '${file}'`)).err).toMatch(/cut.*\nexit 4\n$/s);
  });
});

test("snapshot pack refuses a name that exists, as backup does, and says that the disk is full", async () => {
  const folder = newFolder();
  const file = join(folder, "pack");
  symlinkSync("nowhere", file);
  const { code, err } = await run(dataDir, "snapshot", "pack", file);
  expect({ code, err }).toEqual({
    code: exitCodes.refused,
    err: `netfacts: ${file} already exists: choose another path, or remove it first\n`,
  });
  rmSync(file);
  const full = await runShell(`ulimit -f 1; exec NETFACTS snapshot pack '${file}'`);
  expect(full).toEqual({ code: exitCodes.unavailable, err: `netfacts: ${file} cannot be written: the disk is full\n` });
  expect(readdirSync(folder)).toEqual([]);
});

test("an import says that the disk is full, exits with 5 and leaves what is in service", async () => {
  const folder = newFolder();
  const sources = smallSources(folder, "SE");
  const lines = Array.from(
    { length: 40_000 },
    (_, at) => `ripencc|FR|ipv4|${62 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}.0|256|19930901|assigned`,
  );
  writeFileSync(join(folder, "ripencc.txt"), `2|ripencc|20261121|${lines.length}|19930901|20261120|+0000\n${lines.join("\n")}\n`);
  const before = readdirSync(join(dataDir, "snapshots"), { recursive: true }).sort();
  const { code, err } = await runShell(`ulimit -f 1000; exec NETFACTS ingest run --sources '${sources}'`);
  expect(err).toMatch(/the disk is full: .*snapshots.*; nothing was published\n$/);
  expect(code).toBe(exitCodes.unavailable);
  expect(readdirSync(join(dataDir, "snapshots"), { recursive: true }).sort()).toEqual(before);
});

test("a copy in a folder that does not exist is refused in plain words", async () => {
  const target = join(newFolder(), "missing", "copy");
  for (const command of [["backup"], ["snapshot", "pack"]]) {
    const { code, err } = await run(dataDir, ...command, target);
    expect([code, err]).toEqual([exitCodes.failed, `netfacts: ${target} cannot be written: its folder does not exist\n`]);
  }
});

test("a backup that cannot be written names the copy, not the store, and leaves nothing", async () => {
  await runJson(dataDir, "keys", "create", "--label", "any");
  const folder = newFolder();
  const { code, err } = await runShell(`ulimit -f 128; exec NETFACTS backup '${join(folder, "copy")}'`);
  expect(code).toBe(exitCodes.unavailable);
  expect(err).toContain(`netfacts: store ${join(folder, "copy")}: `);
  expect(readdirSync(folder)).toEqual([]);
});

(existsSync("/dev/full") ? describe : describe.skip)("standard output that cannot be written", () => {
  const expected = {
    code: exitCodes.unavailable,
    err: "netfacts: the result cannot be written to standard output: the disk is full; changes that the command made stay\n",
  };
  for (const command of ["keys create --label lost", "keys list", "export csv", "--help"])
    test(`is reported once by ${command}`, async () => {
      expect(await runShell(`exec NETFACTS ${command} >/dev/full`)).toEqual(expected);
    });
});
