/** `netfacts mrt cat`: lines, JSON, bad records, truncation, standard input, and a reader that leaves early. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { Chance, madePeerIndex, madeRecord } from "../../../libs/mrt/test/support/made-records.ts";
import { mrtRecord, peerIndexRecord, ribRecord } from "../../../libs/mrt/test/support/mrt-writer.ts";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { programArgs } from "../../../test/support/programs.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { run, runProcess, runWith } from "./support/run.ts";

// Some start processes, on machines that may be busy.
jest.setTimeout(120_000);

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-cli-mrt-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, ...parts: Uint8Array[]): string {
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

const cat = (...args: string[]) => run("nowhere", "mrt", "cat", ...args);

const index = peerIndexRecord([{ address: "192.0.2.1", asn: 64500 }]);
const route = (prefix: string) => ribRecord(prefix, [{ peer: 0, path: "64500 {1,2}" }]);
const line = (prefix: string) => `TABLE_DUMP2|1700000000|B|192.0.2.1|64500|${prefix}|64500 {1,2}|IGP|255.255.255.255|0|0||NAG||\n`;
/** A RIB record with a prefix of 33 bits. */
const bad = ribRecord("10.0.0.0/33", []);

test("prints a line a route, of several files one after the other, whatever their compression", async () => {
  const plain = fileOf("plain", index, route("10.0.0.0/8"));
  const packed = fileOf("packed", gzipSync(Buffer.concat([index, route("2001:db8::/32")])));
  const frames = fileOf("frames", zstdCompressSync(index), zstdCompressSync(route("192.0.2.0/24")));
  expect(await cat(plain, packed, frames)).toEqual({
    code: exitCodes.ok,
    out: line("10.0.0.0/8") + line("2001:db8::/32") + line("192.0.2.0/24"),
    err: "",
  });
});

test("reads standard input for -, packed or not", async () => {
  const table = Buffer.concat([index, route("10.0.0.0/8")]);
  for (const stdin of [table, gzipSync(table), zstdCompressSync(table)]) {
    expect(await runWith([stdin.subarray(0, 5), stdin.subarray(5)], "nowhere", "mrt", "cat", "-")).toEqual({
      code: exitCodes.ok,
      out: line("10.0.0.0/8"),
      err: "",
    });
  }
});

test("with --json prints one record a line, of every kind", async () => {
  const chance = new Chance(7);
  const path = fileOf("every", madePeerIndex(), ...Array.from({ length: 100 }, () => madeRecord(chance)));
  const { code, out } = await cat("--json", path);
  expect(code).toBe(exitCodes.ok);
  const records = out
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as { kind: string; offset: number });
  expect(records).toHaveLength(101);
  expect(records[0]).toMatchObject({ offset: 0, type: "TABLE_DUMP_V2", subtype: "PEER_INDEX_TABLE", kind: "peer-index", view: "made" });
  expect(new Set(records.map(({ kind }) => kind)).size).toBeGreaterThan(6);
});

test("a bad record goes to standard error with its byte, its cause and its bytes; the others are printed, and the exit code tells", async () => {
  const path = fileOf("bad", index, route("10.0.0.0/8"), bad, route("10.1.0.0/16"));
  const { code, out, err } = await cat(path);
  const offset = index.length + route("10.0.0.0/8").length;
  expect(out).toBe(line("10.0.0.0/8") + line("10.1.0.0/16"));
  expect(code).toBe(exitCodes.untrusted);
  expect(err).toBe(
    `netfacts: ${path}: bad record at byte ${offset} (TABLE_DUMP_V2 RIB_IPV4_UNICAST, ${bad.length} bytes): bad-prefix-length at byte ${offset + 16}: ` +
      `an IPv4 prefix has 33 bits: ${bad.toString("hex")}\n`,
  );
  expect((await cat("--json", path)).err).toBe(err);
});

test("of a long bad record the first 64 bytes are shown, and how many more there are", async () => {
  const long = ribRecord("10.0.0.0/8", [{ peer: 0, path: "64500 9" }]);
  const damaged = Buffer.concat([long, Buffer.alloc(5_000)]);
  damaged.writeUInt32BE(damaged.length - 12, 8);
  damaged[16] = 33;
  const { err } = await cat(fileOf("long", index, damaged));
  expect(err).toMatch(
    new RegExp(`${damaged.length} bytes\\).*: ${damaged.subarray(0, 64).toString("hex")}… and ${damaged.length - 64} more bytes\n$`),
  );
});

test("records and attributes that are not read are counted at the end, and are no failure", async () => {
  const unknown = ribRecord("10.0.0.0/8", [{ peer: 0, path: "64500 {1,2}", after: Buffer.of(0xc0, 99, 1, 0) }]);
  const path = fileOf(
    "unread",
    index,
    mrtRecord(13, 6, Buffer.alloc(9)),
    unknown,
    mrtRecord(16, 2, Buffer.alloc(9)),
    mrtRecord(13, 6, Buffer.alloc(4)),
  );
  expect(await cat(path)).toEqual({
    code: exitCodes.ok,
    out: line("10.0.0.0/8"),
    err: [
      `netfacts: ${path}: 2 records skipped: TABLE_DUMP_V2 RIB_GENERIC`,
      `netfacts: ${path}: 1 records skipped: BGP4MP BGP4MP_ENTRY`,
      `netfacts: ${path}: 1 attributes skipped: type 99`,
      "",
    ].join("\n"),
  });
});

test("a file that ends inside a record is printed up to there, and the exit code is 4; so is one that ends inside its compression", async () => {
  const table = Buffer.concat([index, route("10.0.0.0/8"), route("10.1.0.0/16")]);
  const cut = await cat(fileOf("cut", table.subarray(0, -1)));
  expect(cut).toMatchObject({ code: exitCodes.untrusted, out: line("10.0.0.0/8") });
  expect(cut.err).toMatch(/ends \d+ bytes into a record.*record at byte \d+/);
  const packed = await cat(fileOf("cut.gz", gzipSync(table).subarray(0, -4)));
  expect(packed).toMatchObject({ code: exitCodes.untrusted, out: line("10.0.0.0/8") + line("10.1.0.0/16") });
  expect(packed.err).toContain("the gzip data end early");
});

test("what is no MRT is refused with its first byte; what is not there is exit code 3; the files after it are read", async () => {
  const text = fileOf("text", Buffer.from("this is a line of text, and no more than that\n"));
  expect(await cat(text)).toMatchObject({ code: exitCodes.untrusted, out: "", err: expect.stringContaining("record at byte 0") });
  const table = fileOf("table", index, route("10.0.0.0/8"));
  expect(await cat(join(folder, "absent"), table)).toMatchObject({
    code: exitCodes.notFound,
    out: line("10.0.0.0/8"),
    err: expect.stringContaining("no such file"),
  });
});

test.each([
  ["a web page", Buffer.from("<!doctype html><html><body>404</body></html>\n")],
  ["another gzip file: it was compressed twice", gzipSync(gzipSync("a table"))],
  ["UTF-16 text; save it as UTF-8", Buffer.from("\ufeff1\tone\n", "utf16le")],
  ["format delegated", Buffer.from("2|ripencc|20260105|1|19830705|20260104|+0100\n")],
  ["a JSON document", Buffer.from('{"a": 1}')],
])("what looks like %s is said to, by replay too", async (what, bytes) => {
  const path = fileOf("foreign", bytes);
  const said = {
    code: exitCodes.untrusted,
    out: "",
    err: expect.stringMatching(new RegExp(`^netfacts: ${path}: .*; it looks like ${what}\n$`)),
  };
  expect(await cat(path)).toEqual(said);
  expect(await run("nowhere", "mrt", "replay", fileOf("rib", index, route("10.0.0.0/8")), path)).toEqual(said);
  expect(await runWith([bytes], "nowhere", "mrt", "cat", "-")).toMatchObject({ err: expect.stringMatching(`it looks like ${what}\n$`) });
});

test("a reader that leaves early is no failure, and nothing is said of it", async () => {
  // More than a pipe and every buffer hold.
  const path = fileOf("large", index, ...Array<Buffer>(50_000).fill(route("10.0.0.0/8")));
  const child = spawn(process.execPath, [...programArgs("cli"), "mrt", "cat", path], {
    env: { ...compileCache, NODE_NO_WARNINGS: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const closed = once(child, "close");
  await once(child.stdout, "data");
  child.stdout.destroy();
  const [code] = await closed;
  expect({ code, err }).toEqual({ code: exitCodes.ok, err: "" });
});

test("as a program it prints the same", async () => {
  const path = fileOf("program", index, route("10.0.0.0/8"));
  expect(await runProcess("nowhere", "mrt", "cat", path)).toEqual({ code: 0, out: line("10.0.0.0/8"), err: "" });
});

test("help says what is read, and what the exit code means; without a file it is a wrong command line", async () => {
  const { out } = await cat("--help");
  for (const word of ["TABLE_DUMP_V2", "zstd", "standard input", "exit"]) expect(out).toContain(word);
  expect((await cat()).code).toBe(exitCodes.usage);
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  expect(readme).toContain("netfacts mrt cat");
});
