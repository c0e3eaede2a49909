/** The examples in the README run, and print what they say. */

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { startMongodb } from "../../../test/support/mongodb.ts";

const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");
const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);

async function output(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    env: { NODE_NO_WARNINGS: "1" },
  });
  return stdout;
}

test("the README's example of a file works as it stands", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-readme-"));
  const program = `
    import { parseKeyText } from "@netfacts/keys";
    ${examples[0]?.replace(".netfacts/store.sqlite", join(folder, "store.sqlite"))}
    console.log(parseKeyText(secret)?.id === key.id);`;
  const out = await output(program);
  rmSync(folder, { recursive: true });
  // Listening began after the key was made, so nothing is told of it.
  expect(out).toBe("true\n");
});

test("the README's example of a server works as it stands", async () => {
  const server = await startMongodb();
  try {
    const program = `
      ${examples[1]?.replace("mongodb://netfacts:secret@db.example:27017/netfacts", server.database(`readme_${randomUUID().slice(0, 8)}`))}
      console.log(leadership.outcome);`;
    expect(await output(program)).toBe("held\n");
  } finally {
    await server.stop();
  }
});
