/** When test files may start. The machine is made up, and its time passes only when the gate sleeps. */

import { afterEach, expect, test } from "@jest/globals";
import { filesMax, type Machine, StartGate } from "../support/start-gate.ts";

const machines: MadeUpMachine[] = [];
// A gate that still waits would look again and again, for the life of the process.
afterEach(() => {
  for (const machine of machines.splice(0)) machine.hasEnded = true;
});

/** A machine with two processors, `busy` of which are at work. */
class MadeUpMachine implements Machine {
  processors = 2;
  busy = 2;
  hasEnded = false;
  free = 16 * 2 ** 30;
  #now = 0;
  #idle = 0;

  constructor() {
    machines.push(this);
  }

  idleMs = (): number => this.#idle;
  freeBytes = (): number => this.free;
  nowMs = (): number => this.#now;
  sleep = async (ms: number): Promise<void> => {
    if (this.hasEnded) await new Promise(() => {});
    this.#now += ms;
    this.#idle += ms * (2 - this.busy);
    // Other tasks have their turn.
    await new Promise(setImmediate);
  };

  /** Lets `seconds` pass. */
  async pass(seconds: number): Promise<void> {
    const until = this.#now + seconds * 1_000;
    while (this.#now < until) await this.sleep(25);
  }
}

/** Calls `enter` for so many files. @returns how many of them have started. */
function enter(gate: StartGate, files: number): () => number {
  let started = 0;
  for (let file = 0; file < files; file++) gate.enter().then(() => started++);
  return () => started;
}

test("a busy machine runs four files, and the next one starts when one of them ends", async () => {
  const machine = new MadeUpMachine();
  const gate = new StartGate(machine);
  const started = enter(gate, 7);
  await machine.pass(60);
  expect(started()).toBe(4);
  gate.leave();
  await machine.pass(0.1);
  expect(started()).toBe(5);
  await machine.pass(60);
  expect(started()).toBe(5);
});

test.each([
  { lacks: "processors", processors: 1, free: 16 },
  { lacks: "memory", processors: 2, free: 5 },
])("a busy machine that lacks $lacks runs three files", async ({ processors, free }) => {
  const machine = new MadeUpMachine();
  Object.assign(machine, { processors, free: free * 2 ** 30 });
  const started = enter(new StartGate(machine), 6);
  await machine.pass(60);
  expect(started()).toBe(3);
});

test("while processors are idle, one more file starts in each window", async () => {
  const machine = new MadeUpMachine();
  machine.busy = 1;
  const started = enter(new StartGate(machine), 7);
  await machine.pass(1);
  expect(started()).toBe(4);
  await machine.pass(1);
  expect(started()).toBe(5);
  await machine.pass(1.5);
  expect(started()).toBe(6);
  machine.busy = 2;
  await machine.pass(60);
  expect(started()).toBe(6);
});

test("no further file starts while memory is short", async () => {
  const machine = new MadeUpMachine();
  machine.busy = 0;
  const started = enter(new StartGate(machine), 5);
  machine.free = 2 ** 30;
  await machine.pass(60);
  expect(started()).toBe(4);
  machine.free = 8 * 2 ** 30;
  await machine.pass(3);
  expect(started()).toBe(5);
});

test("Jest starts three more workers than there are processors, as far as there is memory", () => {
  const machine = new MadeUpMachine();
  expect(filesMax(machine)).toBe(5);
  Object.assign(machine, { processors: 8, free: 9.5 * 2 ** 30 });
  expect(filesMax(machine)).toBe(9);
  Object.assign(machine, { processors: 1, free: 2 ** 30 });
  expect(filesMax(machine)).toBe(3);
});
