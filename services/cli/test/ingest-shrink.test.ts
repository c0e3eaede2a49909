/** `netfacts ingest run --accept-shrink`: a section that shrank too much stays, and is taken when somebody says so. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { exitCodes } from "../src/exit-codes.ts";
import { run, runJson, temporaryFolder } from "./support/run.ts";

const dataDir = temporaryFolder();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const list = join(dataDir, "sources.yaml");
const namesOf = (count: number) =>
  writeFileSync(join(dataDir, "names"), Array.from({ length: count }, (_, at) => `${at + 1}\tN${at}\n`).join(""));
const importing = ["ingest", "run", "--sources", list];

async function names(): Promise<unknown> {
  const { sections } = (await runJson(dataDir, "snapshot", "show")) as { sections: { as_names: { counts: { names: number } } } };
  return sections.as_names.counts.names;
}

test("the run goes well, says what was lost and what to do; with the option it is taken", async () => {
  writeFileSync(
    list,
    `section_shrink_max: {as_names: 10%}
sources:
  - {name: names, section: as_names, format: name-list, location: names, shrink_max: 100%}
`,
  );
  namesOf(10);
  expect((await run(dataDir, ...importing)).code).toBe(exitCodes.ok);
  namesOf(5);
  const refused = await run(dataDir, ...importing);
  expect(refused.code).toBe(exitCodes.ok);
  expect(refused.out).toMatch(
    /as_names .*: 10 names \(kept from the last snapshot\)\n {2}not published: the new section has 5 names, compared with 10 in the last snapshot: .*; to accept it for one run, add --accept-shrink as_names\n/,
  );
  expect(await names()).toBe(10);
  expect((await run(dataDir, ...importing, "--accept-shrink", "as_name")).code).toBe(exitCodes.usage);
  expect((await run(dataDir, ...importing, "--accept-shrink", "vrps", "as_names")).out).toMatch(
    /as_names .*: 5 names; \d+ records checked\n/,
  );
  expect(await names()).toBe(5);
});
