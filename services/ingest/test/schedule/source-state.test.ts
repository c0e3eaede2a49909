/** The file of what is known of sources: it is whole, so it is written once for many changes. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { SourceStates } from "../../src/schedule/source-state.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-states-"));
afterAll(() => rmSync(folder, { recursive: true }));

const source = (number: number) => ({ name: `source-${number}`, location: "/nowhere" });
const knownIn = async (path: string, number: number) => (await SourceStates.open(path)).get(source(number)).checkedAt;

test("many changes are one write, and without a change nothing is written", async () => {
  const path = join(folder, "schedule.json");
  const states = await SourceStates.open(path);
  for (let number = 0; number < 300; number++) states.change(source(number), { checkedAt: number });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(existsSync(path)).toBe(false);
  await Promise.all([states.save(), states.save()]);
  expect(await knownIn(path, 299)).toBe(299);
  const { ino } = statSync(path);
  await states.save();
  expect(statSync(path).ino).toBe(ino);
  states.change(source(1), { checkedAt: 7 });
  await states.save();
  expect([await knownIn(path, 1), await knownIn(path, 2)]).toEqual([7, 2]);
});

test("what could not be written is written by the next save, and a change is written without one", async () => {
  const path = join(folder, "state", "schedule.json");
  const states = await SourceStates.open(path);
  rmSync(join(folder, "state"), { recursive: true });
  states.change(source(1), { checkedAt: 1 });
  await expect(states.save()).rejects.toThrow("ENOENT");
  mkdirSync(join(folder, "state"));
  await states.save();
  expect(await knownIn(path, 1)).toBe(1);
  states.change(source(1), { checkedAt: 2 });
  for (let tries = 0; tries < 300 && (await knownIn(path, 1)) !== 2; tries++) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await knownIn(path, 1)).toBe(2);
});
