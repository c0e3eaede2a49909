/** A meter of usage in a process of its own: one command a line in, one JSON line out for each. Run with the store's path and the time between writings. */

import { createInterface } from "node:readline";
import { openSqliteStore } from "@netfacts/storage";
import { UsageMeter } from "../../src/usage/usage-meter.ts";
import { admissionAt } from "./usage-admission.ts";

const [path = "", flushMs = "0"] = process.argv.slice(2);
const store = await openSqliteStore(path);
const tell = (fields: object, message: string): void => void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
const meter = new UsageMeter({ usage: store.usage, log: { info: tell, warn: tell }, flushMs: Number(flushMs) });

for await (const line of createInterface({ input: process.stdin })) {
  const [name, count = "0"] = line.split(" ");
  for (let i = 0; i < Number(count); i++) meter.count(admissionAt(Date.UTC(2026, 10, 21, 12)), 1, 0);
  if (name === "stop") {
    await meter.stop();
    await store.close();
  }
  process.stdout.write(`${JSON.stringify(name)}\n`);
  if (name === "stop") break;
}
process.stdin.destroy();
