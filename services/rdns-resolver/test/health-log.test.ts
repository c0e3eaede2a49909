/** The log of nameservers that come and go. */

import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { healthLog } from "../src/dns/health-log.ts";

const down = "nameserver does not answer and is probed until it does. Check that it runs and can be reached";
const unsteady = "nameserver answers with interruptions. Check its load and the network. Its changes are only counted for 10 minutes";
const tenMinutesMs = 600_000;

let lines: string[] = [];
const write = (fields: object, message: string) => {
  lines.push(`${message} ${JSON.stringify(fields)}`);
};

beforeEach(() => {
  lines = [];
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test("a nameserver that comes and goes all the time gets a line in ten minutes, with the number of changes", () => {
  const changed = healthLog({ info: write, warn: write });
  changed("a", true);
  for (let interruption = 0; interruption < 1_000; interruption++) {
    changed("a", false);
    changed("a", true);
  }
  const early = [
    `nameserver answers {"server":"a"}`,
    ...Array(3)
      .fill([`${down} {"server":"a"}`, `nameserver answers {"server":"a"}`])
      .flat(),
  ];
  expect(lines).toEqual([...early, `${unsteady} {"server":"a"}`]);

  lines = [];
  jest.advanceTimersByTime(tenMinutesMs);
  expect(lines).toEqual([`nameserver answers {"server":"a","changes":1994}`]);
  changed("a", false);
  jest.advanceTimersByTime(tenMinutesMs);
  expect(lines.slice(1)).toEqual([`${down} {"server":"a","changes":1}`]);

  lines = [];
  jest.advanceTimersByTime(tenMinutesMs);
  changed("a", true);
  expect(lines).toEqual([`nameserver answers {"server":"a"}`]);
});

test("interruptions of one nameserver hide none of another, and steady ones are forgotten", () => {
  const changed = healthLog({ info: write, warn: write });
  for (let interruption = 0; interruption < 10; interruption++) {
    changed("a", false);
    changed("a", true);
  }
  lines = [];
  changed("b", false);
  expect(lines).toEqual([`${down} {"server":"b"}`]);
  jest.advanceTimersByTime(3 * tenMinutesMs);
  expect(jest.getTimerCount()).toBe(0);
});
