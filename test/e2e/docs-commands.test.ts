/** The commands of the documentation, as a reader pastes them: every `sh` block runs over the samples, or says why it cannot. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type CodeBlock, codeBlocks } from "../../scripts/docs-site/code-blocks.ts";
import { endAll, removeFolders, type Standalone, startStandalone, temporaryFolder } from "../support/processes.ts";
import { withSamples } from "../support/sample-snapshot.ts";

const root = resolve(import.meta.dirname, "../..");
const blocks = codeBlocks(root).filter(({ language }) => language === "sh");

/** `not-run: reason`, or `answers: 400` for a request whose problem is the point. */
const mark = /^(?:not-run: (?<reason>\S.*)|answers: (?<status>\d{3}))?$/;
/** What a page shows as the output of a block: the `text` block that follows it. */
const shown = new Map(
  codeBlocks(root).flatMap((block, at, all) => {
    const next = all[at + 1];
    return block.language === "sh" && next?.page === block.page && next.language === "text"
      ? [[`${block.page}:${block.line}`, next.text]]
      : [];
  }),
);
const runnable = blocks.filter(({ info }) => mark.exec(info)?.groups?.reason === undefined);
const pages = [...new Set(runnable.map(({ page }) => page))].map(
  (page) => [page, runnable.filter((block) => block.page === page)] as const,
);

let standalone: Standalone;

beforeAll(async () => {
  standalone = await startStandalone(await withSamples(temporaryFolder()));
});

afterAll(async () => {
  await standalone?.stop();
  await endAll();
  removeFolders();
});

test.each(blocks.map((block) => [`${block.page}:${block.line}`, block] as const))("%s is run, or says why not", (_place, { info }) => {
  expect(info).toMatch(mark);
});

test("most blocks are run", () => {
  expect(runnable.length).toBeGreaterThan(20);
});

/** A folder like the clone: `bin/netfacts` and the state are there, and files may be made. `curl` notes the status of each answer. */
function readersFolder(): { readonly folder: string; readonly statuses: () => string[] } {
  const folder = temporaryFolder();
  symlinkSync(standalone.home, join(folder, ".netfacts"));
  for (const name of ["bin", "tools", "headers"]) mkdirSync(join(folder, name));
  const program = (path: string, line: string): void => {
    writeFileSync(join(folder, path), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, path), 0o755);
  };
  program("bin/netfacts", `exec "${root}/bin/netfacts" "$@"`);
  const curl = execFileSync("sh", ["-c", "command -v curl"], { encoding: "utf8" }).trim();
  program("tools/curl", `exec "${curl}" -D "${folder}/headers/$$" "$@"`);
  const statuses = (): string[] => {
    const files = readdirSync(join(folder, "headers")).map((name) => join(folder, "headers", name));
    const found = files.flatMap(
      (path) =>
        readFileSync(path, "utf8")
          .match(/(?<=^HTTP\/1\.1 )\d{3}/gm)
          ?.filter((status) => status !== "100")
          .slice(-1) ?? [],
    );
    for (const path of files) rmSync(path);
    return found;
  };
  return { folder, statuses };
}

/** Columns are aligned on pages for readers. */
const wordsOf = (text: string): string[] => text.trim().split(/\s+/);

async function runBlock(folder: string, { text }: CodeBlock): Promise<{ status: number | null; out: string; err: string }> {
  const env = {
    ...process.env,
    PATH: `${join(folder, "tools")}:${process.env.PATH}`,
    NETFACTS_URL: standalone.url,
    NETFACTS_KEY: standalone.key,
    NETFACTS_HOME: standalone.home,
  };
  const child = spawn("sh", ["-eu", "-c", text], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    err += chunk;
  });
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out, err };
}

const found = (tool: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${tool}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const hasJq = found("jq");

describe("the commands of a page work, one after the other", () => {
  for (const [page, ofPage] of pages) {
    const runnableHere = hasJq || !ofPage.some(({ text }) => /\bjq\b/.test(text));
    (runnableHere ? test : test.skip)(page, async () => {
      const { folder, statuses } = readersFolder();
      for (const block of ofPage) {
        const place = `${block.page}:${block.line}`;
        const ran = await runBlock(folder, block);
        expect({ place, ...ran }).toMatchObject({ place, status: 0, err: "" });
        const output = shown.get(place);
        if (output !== undefined) expect([place, wordsOf(ran.out)]).toEqual([place, wordsOf(output)]);
        const wanted = mark.exec(block.info)?.groups?.status ?? expect.stringMatching(/^(2..|304)$/);
        for (const status of statuses()) expect([place, status]).toEqual([place, wanted]);
      }
    });
  }
});
