/** The bus inside one process keeps the contract, and what only it can promise. */

import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { createInProcessMessaging } from "../src/index.ts";
import { item, reply } from "./contract/items.ts";
import { describeMessaging } from "./contract.ts";

describeMessaging("in process", async (options) => createInProcessMessaging(options));

test("hands the very body of the responder over, not a copy", async () => {
  const messaging = createInProcessMessaging();
  const answer = reply("bytes");
  await messaging.serve("echo", (_frame, tell) => tell(0, answer));
  expect(await messaging.request("echo", "single", item("q"))).toBe(answer);
  await messaging.close();
});

test("never encodes a frame: nothing that it loads knows the codec or NATS", () => {
  const loaded = new Set<string>();
  const load = (url: URL) => {
    if (loaded.has(url.pathname)) return;
    loaded.add(url.pathname);
    for (const [, typeOnly, specifier] of readFileSync(url, "utf8").matchAll(/^(?:import|export) (type )?[^;]*?from "([^"]+)";/gm)) {
      expect(specifier).not.toMatch(/^nats$|frame-codec|\/nats\//);
      if (typeOnly === undefined && specifier?.startsWith(".")) load(new URL(specifier, url));
    }
  };
  load(new URL("../src/index.ts", import.meta.url));
  expect([...loaded].map((path) => path.split("/src/")[1])).toContain("in-process.ts");
  expect(loaded.size).toBeGreaterThan(5);
});

test("tells the log of listeners and handlers that fail", async () => {
  const told: string[] = [];
  const messaging = createInProcessMessaging({ onError: (what) => told.push(what) });
  messaging.subscribe("subject", () => {
    throw new Error("broken");
  });
  messaging.publish("subject", null);
  await messaging.serve("broken", () => {
    throw new Error("broken");
  });
  await expect(messaging.request("broken", "single", item("q"))).rejects.toMatchObject({ code: "handler_failed" });
  expect(told).toEqual(["a listener of subject failed", "a frame handler failed"]);
  await messaging.close();
});

test("keeps no timer when nothing is asked", async () => {
  const messaging = createInProcessMessaging();
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const before = timers();
  await messaging.serve("slow", (_frame, tell) => {
    setTimeout(() => tell(0, reply("")), 10);
  });
  const asked = messaging.request("slow", "single", item("q"));
  expect(timers()).toBeGreaterThan(before);
  await asked;
  expect(timers()).toBeLessThanOrEqual(before);
  await messaging.close();
});
