/** A section that shrank: the run keeps the last one and says so in record, log and metrics; an operator may take it for one run. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { IngestRun } from "@netfacts/contracts";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { Value } from "typebox/value";
import { delegatedFile } from "../support/made-files.ts";
import { runsPath, startedRun, startService } from "../support/service.ts";

test("what is refused stays, is told everywhere, and is taken when an operator asks a process that does not lead", async () => {
  const registry = createRegistry();
  const leader = await startService({ deps: (deps) => ({ ...deps, metrics: createMetrics("ingest", registry) }) });
  const refusals = async () => (await registry.text()).split("\n").filter((line) => line.startsWith("netfacts_ingest_section_refused{"));
  const write = (name: string, text: string) => writeFileSync(join(leader.folder, "sources", name), text);
  write("ripencc.txt", delegatedFile());
  write(
    "sources.yaml",
    `section_shrink_max: {allocations: 10%}
sources:
  - {name: ripencc, section: allocations, format: delegated, location: ripencc.txt, shrink_max: 100%}
`,
  );
  const whole = await leader.ended(await startedRun(leader));
  expect(whole).toMatchObject({ state: "succeeded", report: { sections: [{ refused: null, counts: { ipv4: 10 } }] } });
  expect(await refusals()).toEqual([expect.stringMatching(/section="allocations".* 0$/)]);

  write("ripencc.txt", delegatedFile("ripencc", 2));
  const shrunk = await leader.ended(await startedRun(leader));
  const reason = "has 2 IPv4 records, compared with 10 in the last snapshot: it shrank by more than section_shrink_max (0.1) allows";
  expect(shrunk).toMatchObject({
    state: "succeeded",
    // Its sources say that it was refused.
    report: { unchanged: false, sections: [{ kept: true, refused: reason, counts: { ipv4: 10 } }] },
  });
  expect([...Value.Errors(IngestRun, shrunk)]).toEqual([]);
  expect(leader.log.filter(({ level }) => level === "warn")).toContainEqual({
    level: "warn",
    fields: { run: shrunk.id, section: "allocations", reason },
    message: "a section shrank too much; the previous version remains in use",
  });
  expect(await refusals()).toEqual([expect.stringMatching(/section="allocations".* 1$/)]);

  const standby = await startService({ folder: leader.folder, sources: join(leader.folder, "sources", "sources.yaml") });
  const asked = await standby.ask("POST", runsPath, {
    body: '{"accept_shrink":["allocations"]}',
    headers: { "content-type": "application/json" },
  });
  expect(asked.status).toBe(202);
  const taken = await leader.ended(asked.json.id);
  expect(taken).toMatchObject({
    state: "succeeded",
    report: { unchanged: false, sections: [{ kept: false, refused: null, counts: { ipv4: 2 } }] },
  });
  expect((await leader.store.audit.list({ limit: 1 }))[0]).toMatchObject({
    action: "run.start",
    details: { accept_shrink: ["allocations"] },
  });
  expect(await refusals()).toEqual([expect.stringMatching(/section="allocations".* 0$/)]);
  await standby.stop();
  await leader.stop();
});
