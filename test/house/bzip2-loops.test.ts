/** The WebAssembly in the repository is what its source compiles to: nobody has to trust bytes that nobody can read. */

import { expect, test } from "@jest/globals";
import { bzip2Loops } from "../../libs/content/src/bzip2-loops.wasm.ts";
import { compiled, content } from "../../scripts/generate-bzip2-loops.ts";
import { findAssemblyScript } from "../support/assemblyscript.ts";
import { toolOrNotRun } from "../support/debian.ts";

test("the loops of bzip2 are what their source compiles to", async () => {
  if (toolOrNotRun(await findAssemblyScript(), "the compiler of AssemblyScript", 1) === null) return;
  expect((await compiled()).toString("base64")).toBe(bzip2Loops);
  expect(await content()).toContain(bzip2Loops);
}, 120_000);
