/** A limiter in a process of its own: one command a line in, one JSON line out for each. Run with the store's path and the key's limits. */

import { createInterface } from "node:readline";
import { openSqliteStore } from "@netfacts/storage";
import { createLimiter } from "../../src/limits/index.ts";

const [path = "", limits = "{}"] = process.argv.slice(2);
// The middle of a month and of a day: no window ends while the test runs.
const store = await openSqliteStore(path, { now: () => Date.UTC(2026, 10, 21, 9) });
// No request is refused because a busy disk takes long.
const limiter = createLimiter({ store, settings: { bridgeSeconds: 0, waitMs: 60_000 } });
const key = { id: "7Q9M3W8K", bucket: "7Q9M3W8K", limits: JSON.parse(limits) };

const commands: Record<string, (count: number) => Promise<unknown>> = {
  async admit(count) {
    let admitted = 0;
    for (let i = 0; i < count; i++) if ((await limiter.admit(key, { month: 1 })).admitted) admitted++;
    return admitted;
  },
  async peek() {
    return (await limiter.peek(key))?.map(({ remaining }) => remaining);
  },
  async stop() {
    await limiter.stop();
    await store.close();
    return "stopped";
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name = "", count = "0"] = line.split(" ");
  process.stdout.write(`${JSON.stringify(await commands[name]?.(Number(count)))}\n`);
  if (name === "stop") break;
}
process.stdin.destroy();
