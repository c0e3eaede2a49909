/** The `ts` blocks of the documentation have types that fit the packages, or say why they are not checked. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { codeBlocks } from "../../scripts/docs-site/code-blocks.ts";

const root = join(import.meta.dirname, "..", "..");
const mark = /^(?:not-checked: (?<reason>\S.*))?$/;
const blocks = codeBlocks(root).filter(({ language }) => language === "ts");
const checked = blocks.filter(({ info }) => mark.exec(info)?.groups?.reason === undefined);
const places = checked.map(({ page, line }, index) => [`${page}:${line}`, index] as const);

/** Each block is a module of its own, beside the packages of the workspace. */
const folder = mkdtempSync(join(tmpdir(), "netfacts-types-"));
const faults = checked.map((): string[] => []);

beforeAll(async () => {
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  checked.forEach(({ text }, index) => {
    writeFileSync(join(folder, `${index}.ts`), text);
  });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const compilerOptions = { composite: false, declaration: false, sourceMap: false, noEmit: true, moduleDetection: "force" };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.base.json"), compilerOptions, include: ["*.ts"] }),
  );
  for (const line of await typeFaults(folder)) {
    const [, name = "", row = "", message = ""] = /^(\d+)\.ts\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    const block = checked[Number(name)];
    if (name === "" || block === undefined) throw new Error(line);
    faults[Number(name)]?.push(`${block.page}:${block.line + Number(row)}: ${message}`);
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

/** One line for each diagnostic that has a place, with the path from the folder. */
function typeFaults(cwd: string): Promise<string[]> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  return new Promise((resolve, reject) => {
    // One checker loads each type once. The compiler is a Go program that allocates much and ends soon: it collects garbage less often.
    const options = { cwd, env: { ...process.env, GOGC: "400" } };
    execFile(process.execPath, [tsc, "--pretty", "false", "--singleThreaded"], options, (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((line) => line !== "" && !/^\s/.test(line));
      if (error !== null && lines.length === 0) reject(new Error(`${basename(tsc)}: ${error.message}\n${stderr}`));
      else resolve(lines);
    });
  });
}

test.each(places)("%s has types that fit", (_place, index) => {
  expect(faults[index]).toEqual([]);
});

test.each(blocks.map((block) => [`${block.page}:${block.line}`, block] as const))("%s is checked, or says why not", (_place, { info }) => {
  expect(info).toMatch(mark);
});
