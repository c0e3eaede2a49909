/** What the log tells of a store of limits that goes and comes. */

import { expect, test } from "@jest/globals";
import { type LimitRepository, StoreError, type TakeOutcome } from "@netfacts/storage";
import { watchedLimits } from "../../src/limits/watched-limits.ts";

test("a store that goes away is told once with what to do, and so is its return", async () => {
  const lines: string[] = [];
  const write = (level: string) => (fields: { err?: Error }, message: string) =>
    void lines.push([level, message, fields.err?.message].filter((part) => part !== undefined).join(": "));
  const away: TakeOutcome = {
    outcome: "unknown",
    cause: new StoreError("unavailable", "mongodb://host/db", "no answer", undefined, "check that it runs"),
  };
  const granted: TakeOutcome = { outcome: "granted", leased: 1, at: 0 };
  const full: TakeOutcome = { outcome: "does-not-fit", left: 0, leased: 1, at: 0 };
  const outcomes = [granted, away, away, full, granted, away];
  const limits = { take: async () => outcomes.shift() } as Pick<LimitRepository, "take"> as LimitRepository;
  const watched = watchedLimits(limits, { info: write("info"), warn: write("warn") });
  const window = { bucket: "b", policy: "month", start: 0, expiresAt: 0 };
  const expected = [...outcomes];
  for (const outcome of expected) expect(await watched.take(window, 1, 1)).toBe(outcome);
  expect(lines).toEqual([
    expect.stringMatching(/^warn: limit store is unavailable; .*: store mongodb:\/\/host\/db: no answer; check that it runs$/),
    "info: limit store is available again",
    expect.stringMatching(/^warn: limit store is unavailable/),
  ]);
});

test("one counter that is not valid is no store that went away", async () => {
  const lines: string[] = [];
  const write = (_fields: object, message: string) => void lines.push(message);
  const invalid: TakeOutcome = { outcome: "unknown", cause: new StoreError("invalid", "mongodb://host/db", "a document is not valid") };
  const limits = { take: async () => invalid } as Pick<LimitRepository, "take"> as LimitRepository;
  const watched = watchedLimits(limits, { info: write, warn: write });
  expect(await watched.take({ bucket: "b", policy: "month", start: 0, expiresAt: 0 }, 1, 1)).toBe(invalid);
  expect(lines).toEqual([]);
});
