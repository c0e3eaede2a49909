/** Deadlines: never early, about 10 ms late at most, and no timer when nothing is watched. */

import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { expect, jest, test } from "@jest/globals";
import { Deadlines, type Watched } from "../src/deadlines.ts";
import { pause, until } from "./nats/support.ts";

interface Item extends Watched {
  readonly name: string;
}
const made = (name: string): Item => ({ name, bucket: null });

test("tells each item once and not early, and not what was removed", async () => {
  const told: [string, number][] = [];
  const start = performance.now();
  const deadlines = new Deadlines<Item>(({ name }) => told.push([name, performance.now() - start]));
  const removed = made("removed");
  deadlines.add(made("late"), 60);
  deadlines.add(removed, 20);
  deadlines.add(made("soon"), 20);
  deadlines.remove(removed);
  deadlines.remove(removed);
  await until(() => told.length >= 2);
  await pause(50);
  // One after a pause of the machine, in any order.
  expect(told.map(([name]) => name).sort()).toEqual(["late", "soon"]);
  const times = new Map(told);
  expect(times.get("soon")).toBeGreaterThanOrEqual(20);
  expect(times.get("late")).toBeGreaterThanOrEqual(60);
});

/** An item whose reply is read when it comes through `port`. */
function answered() {
  const told: string[] = [];
  const deadlines = new Deadlines<Item>(({ name }) => told.push(name));
  const item = made("answered");
  const { port1, port2 } = new MessageChannel();
  port2.once("message", () => {
    deadlines.remove(item);
    port2.close();
  });
  return { told, deadlines, item, port: port1, read: once(port2, "close") };
}

test("a reply that is there ends its item, however late the event loop gets to it", async () => {
  const { told, deadlines, item, port, read } = answered();
  // Where replies are read: timers come next, before what arrived meanwhile is.
  await setImmediate();
  deadlines.add(item, 20);
  port.postMessage("reply");
  for (const since = performance.now(); performance.now() - since < 60; );
  await read;
  expect(told).toEqual([]);
});

test("so does a reply that arrives while the event loop is held up between the look at the clock and the end of what is late", async () => {
  const { told, deadlines, item, port, read } = answered();
  let now = 1_000;
  const clock = jest.spyOn(performance, "now").mockImplementation(() => now);
  try {
    await setImmediate();
    // Runs before what the look defers, as a long turn of other work does.
    setTimeout(() => {
      void setImmediate().then(() => {
        port.postMessage("reply");
        now += 520;
      });
    }, 1);
    deadlines.add(item, 500);
    // Both the timer and the look are due then.
    for (const since = Date.now(); Date.now() - since < 30; );
    await read;
  } finally {
    clock.mockRestore();
  }
  expect(told).toEqual([]);
});

test("an item may be watched again, also while it is told, and ended with others at the same time", async () => {
  const told: string[] = [];
  const other = made("other");
  const deadlines: Deadlines<Item> = new Deadlines<Item>((item) => {
    told.push(item.name);
    if (item.name === "first") deadlines.remove(other);
    if (told.length === 1) deadlines.add(item, 20);
  });
  deadlines.add(made("first"), 10);
  deadlines.add(other, 10);
  await until(() => told.length >= 2);
  await pause(50);
  expect(told).toEqual(["first", "first"]);
});

test("keeps no timer when nothing is watched", () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const before = timers();
  const deadlines = new Deadlines<Item>(() => {});
  const items = Array.from({ length: 100 }, (_, i) => made(`${i}`));
  for (const [i, item] of items.entries()) deadlines.add(item, i);
  expect(timers()).toBe(before + 1);
  for (const item of items) deadlines.remove(item);
  expect(timers()).toBe(before);
});
