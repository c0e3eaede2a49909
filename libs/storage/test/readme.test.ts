/** The example in the README runs, and prints what it says. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

test("the README's example works as it stands", () => {
  const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? "";
  const folder = mkdtempSync(join(tmpdir(), "netfacts-readme-"));
  const program = `
    import { createKey, openSqliteStore, parseKeyText } from "@netfacts/storage";
    ${example.replace(".netfacts/store.sqlite", join(folder, "store.sqlite"))}
    console.log(parseKeyText(secret)?.id === key.id);`;
  const out = execFileSync(process.execPath, ["--conditions=source", "--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    env: { NODE_NO_WARNINGS: "1" },
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true });
  // Listening began after the key was made, so nothing is told of it.
  expect(out).toBe("true\n");
});
