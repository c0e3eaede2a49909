/** Garbage collection of buffers, in processes of their own, as it is set for a whole process. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { testProgramArgs } from "../../../test/support/programs.ts";

async function fullCollections(...args: readonly string[]): Promise<number> {
  const program = testProgramArgs("services/gateway-auth-quota/test/support/buffers-process.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [...program, ...args], { env: compileCache });
  return Number(stdout);
}

test("a gigabyte of released buffers costs a gateway hardly a collection of all objects, and costs other processes several", async () => {
  expect(await fullCollections("young")).toBeLessThanOrEqual(2);
  expect(await fullCollections()).toBeGreaterThanOrEqual(5);
});
