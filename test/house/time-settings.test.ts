/** Settings that are times have a maximum. Timers of Node end at 2^31-1 ms: a longer one would mean 1 ms. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@jest/globals";

const root = join(import.meta.dirname, "..", "..");
const timerMsMax = 2 ** 31 - 1;
/** No timers: a header, which holds more. */
const untimed = ["HSTS_SECONDS"];

interface Schema {
  readonly properties: Readonly<Record<string, { readonly type?: string; readonly maximum?: number }>>;
}

/** Every schema of settings that a package exports, under its name. */
async function schemas(): Promise<[name: string, Schema][]> {
  const sources = ["libs", "services"].flatMap((kind) =>
    readdirSync(join(root, kind)).flatMap((name) => {
      const folder = join(root, kind, name, "src");
      return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file));
    }),
  );
  const declaring = sources.filter((file) => file.endsWith(".ts") && /ConfigSchema = Type\.Object\(/.test(readFileSync(file, "utf8")));
  const modules = (await Promise.all(declaring.map((file) => import(pathToFileURL(file).href)))) as Record<string, Schema>[];
  return modules.flatMap((exported) => Object.entries(exported).filter(([name]) => name.endsWith("ConfigSchema")));
}

test("each setting that is a time has a maximum that a timer can hold", async () => {
  const found = await schemas();
  expect(found.map(([name]) => name)).toEqual(
    expect.arrayContaining(["gatewayConfigSchema", "ingestConfigSchema", "podConfigSchema", "rdnsConfigSchema", "standaloneConfigSchema"]),
  );
  const faults = found.flatMap(([, { properties }]) =>
    Object.entries(properties).flatMap(([name, { type, maximum }]) => {
      const unit = /_(MS|SECONDS)(_|$)/.exec(name)?.[1];
      if (unit === undefined || type !== "integer") return [];
      if (maximum === undefined) return [`${name} has no maximum`];
      const isHeld = untimed.includes(name) || maximum * (unit === "MS" ? 1 : 1_000) <= timerMsMax;
      return isHeld ? [] : [`${name} may be ${maximum}`];
    }),
  );
  expect([...new Set(faults)]).toEqual([]);
});
