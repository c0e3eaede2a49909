/** Every command explains itself, and the documented exit codes are the real ones. */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { exitCodeHelp, exitCodes } from "../src/exit-codes.ts";
import { tableLines } from "../src/output.ts";
import { run, temporaryFolder, withStore } from "./support/run.ts";

test("--help at every level names the shared options and ends well", async () => {
  for (const path of [[], ["keys"], ...["create", "list", "show", "disable", "enable", "revoke"].map((name) => ["keys", name])]) {
    const { code, out, err } = await run("nowhere", ...path, "--help");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(`Usage: netfacts${path.map((name) => ` ${name}`).join("")}`);
    for (const option of ["--data-dir", "--json", "--help"]) expect(out).toContain(option);
  }
});

test.each([
  [["lookup", "ip", "192.0.2.1\n"], "netfacts: command-argument value '192.0.2.1\\n' is invalid for argument 'address'. "],
  [["\u001b[31m\nx"], "netfacts: unknown command '\\u001b[31m\\nx'\n(see netfacts --help for commands and options)\n"],
  [["help", "\u001b31m"], "netfacts: unknown command '\\u001b31m' (see netfacts --help for commands and options)\n"],
  [["snapshot", "diff", "a\nb", "\r"], "netfacts: a\\nb: no such file or folder"],
])("control characters of %j are escapes in the error", async (args, text) => {
  const { err } = await run("nowhere", ...args);
  expect(err.slice(0, text.length)).toBe(text);
  expect(err).not.toMatch(/[^\P{Cc}\n]/u);
});

test("help lists the exit codes that there are, and so does the README", async () => {
  expect((await run("nowhere", "--help")).out).toContain(exitCodeHelp);
  const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");
  for (const code of Object.values(exitCodes)) {
    expect(exitCodeHelp).toMatch(new RegExp(`^ {2}${code} {2}\\S`, "m"));
    expect(readme).toMatch(new RegExp(`^\\| ${code} +\\|`, "m"));
  }
});

test("the README's commands about keys, plans, profiles and the audit work as they stand", async () => {
  const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");
  const lines = [...readme.matchAll(/^netfacts ((?:keys|plans|profiles|audit) .*)$/gm)].map((match) => match[1] as string);
  expect(lines).toHaveLength(16);
  const dataDir = await withStore(temporaryFolder());
  let id = "";
  for (const line of lines) {
    const ran = await run(dataDir, ...line.replace("7Q9M3W8K", id).split(" "));
    expect(ran).toMatchObject({ code: 0, err: "" });
    id ||= /^id +(\w{8})$/m.exec(ran.out)?.[1] ?? "";
  }
  rmSync(dataDir, { recursive: true });
});

test("a wrong command line points to the help and is exit code 2", async () => {
  for (const args of [["key"], ["keys", "lst"], ["--bogus"], ["keys", "show"], []]) {
    const { code, out, err } = await run("nowhere", ...args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("--help");
  }
  expect((await run("nowhere", "keys", "show")).err).toContain("(see netfacts keys show --help for arguments and options)");
  expect((await run("nowhere", "keys", "lst")).err).toContain("(see netfacts keys --help for commands and options)");
  expect((await run("nowhere", "key")).err).toContain("(Did you mean keys?)");
});

test("help prints the help of the command that it names, and names a command that does not exist", async () => {
  for (const path of [[], ["keys"], ["keys", "create"]]) {
    const { code, out } = await run("nowhere", "help", ...path);
    expect([code, out]).toEqual([0, (await run("nowhere", ...path, "--help")).out]);
  }
  expect((await run("nowhere", "keys", "help", "create")).out).toContain("Usage: netfacts keys create");
  for (const path of [
    ["help", "nope"],
    ["help", "keys", "nope"],
    ["keys", "help", "nope"],
    ["nope", "--help"],
    ["keys", "nope", "--help"],
  ]) {
    const { code, out, err } = await run("nowhere", ...path);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^netfacts: unknown command 'nope' \(see netfacts (keys )?--help for commands and options\)\n$/);
  }
});

test("an option that is misspelt is named, also where it leaves another one missing", async () => {
  const { code, err } = await run("nowhere", "keys", "create", "--lable", "x");
  expect(code).toBe(2);
  expect(err).toContain("netfacts: unknown option '--lable'\n");
  expect((await run("nowhere", "keys", "create", "--scopes", "ip")).err).not.toContain("unknown option");
});

test("snapshot info is called what it was called by", async () => {
  expect((await run("nowhere", "snapshot", "info", "20261121T085500Z-1a2b3c4d")).err).toContain("for 'info'");
});

test("--version prints the package's version", async () => {
  expect((await run("nowhere", "--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("tables align words left and numbers right", () => {
  expect(
    tableLines(
      ["NAME", "N"],
      [
        ["a", "1"],
        ["bcdéf", "1,000"],
        ["c", "–"],
      ],
    ),
  ).toEqual(["NAME       N", "a          1", "bcdéf  1,000", "c          –"]);
});
