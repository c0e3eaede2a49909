/** Golden files of the MRT decoder: one file with every kind of record, as lines and as JSON. `npm run golden` writes them anew. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { bgpdumpLines, readRecords, recordJson } from "@netfacts/mrt";
import { Chance, madePeerIndex, madeRecord } from "../../libs/mrt/test/support/made-records.ts";
import { ribRecord } from "../../libs/mrt/test/support/mrt-writer.ts";

const file = join(import.meta.dirname, "mrt/every-kind.mrt");
const update = process.env.UPDATE_GOLDEN === "1";

function expectGolden(name: string, text: string): void {
  const path = join(import.meta.dirname, "mrt", name);
  if (update) writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, "utf8"));
}

test("the file with every kind of record is printed and decoded as its golden files say", async () => {
  if (update && !existsSync(file)) {
    const records = Array.from({ length: 40 }, (_, seed) => madeRecord(new Chance(seed + 1)));
    const bad = ribRecord("10.0.0.0/33", []);
    writeFileSync(file, Buffer.concat([madePeerIndex(), ...records, bad]));
  }
  const bytes = readFileSync(file);
  let lines = "";
  let json = "";
  async function* chunks() {
    yield bytes;
  }
  for await (const batch of readRecords(chunks())) {
    for (const reading of batch) {
      if ("fault" in reading) {
        json += `${JSON.stringify({ offset: reading.header.offset, fault: reading.fault })}\n`;
        continue;
      }
      json += `${JSON.stringify(recordJson(reading))}\n`;
      for (const line of bgpdumpLines(reading)) lines += line;
    }
  }
  expectGolden("every-kind.txt", lines);
  expectGolden("every-kind.jsonl", json);
});
