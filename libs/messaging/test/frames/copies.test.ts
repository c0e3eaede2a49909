/** What a requester knows of the copies of a service, on a clock that the test sets: each rule by itself. */

import { describe, expect, test } from "@jest/globals";
import { Copies, type Copy } from "../../src/frames/copies.ts";
import { callSubject, copySubject } from "../../src/frames/subjects.ts";

const service = "pod";

/** Copies that have answered a call each. */
class World {
  readonly copies = new Copies(service);
  now = 1_000;

  constructor(...names: string[]) {
    // Calls are due while the service is in use.
    this.copies.next(null, this.now);
    for (const name of names) this.call(name);
  }

  /** The copy answers a call after so many ms; only that it lives is told. */
  call(name: string, ms = 1): void {
    this.copies.heardCall(copySubject(service, name), this.now - ms, this.now);
  }

  /** Asks as a requester does; the frame waits until `answer`. */
  ask(except: readonly Copy[] = []): Copy {
    const copy = this.copies.next(except.length === 0 ? null : new Set(except), this.now);
    copy.waiting += 1;
    return copy;
  }

  answer(copy: Copy, ms: number, name = copy.name): void {
    this.now += ms;
    copy.waiting -= 1;
    this.copies.heardAnswer(copy, name === "" ? undefined : copySubject(service, name), ms, this.now);
  }

  named(name: string): Copy {
    for (let tries = 0; tries < 1_000; tries++) {
      const copy = this.copies.next(null, this.now);
      if (copy.name === name) return copy;
    }
    throw new Error(`${name} is asked no more`);
  }

  /** The names that frames go to now. */
  asked(except: readonly Copy[] = []): string[] {
    const names = Array.from({ length: 200 }, () => this.copies.next(except.length === 0 ? null : new Set(except), this.now).name);
    return [...new Set(names)].sort();
  }

  /** Each copy answers a frame after its time, in turns. */
  answers(times: Readonly<Record<string, number>>, rounds: number): void {
    const of = Object.keys(times).map((name) => ({ copy: this.named(name), ms: times[name] ?? 0 }));
    for (let round = 0; round < rounds; round++)
      for (const { copy, ms } of of) {
        copy.waiting += 1;
        this.answer(copy, ms);
      }
  }
}

describe("which copy is asked", () => {
  test("any copy by the group, until one is known by its name", () => {
    const world = new World();
    expect(world.asked()).toEqual([""]);
    world.call("first");
    expect(world.asked()).toEqual(["first"]);
    world.call("second");
    expect(world.asked()).toEqual(["first", "second"]);
  });

  test("the one with the fewest frames", () => {
    const world = new World("first", "second");
    const asked = world.ask();
    expect(world.asked()).toEqual([asked.name === "first" ? "second" : "first"]);
    world.answer(asked, 1);
    expect(world.asked()).toEqual(["first", "second"]);
  });

  test("one that the item did not meet, where there is another", () => {
    const world = new World("first", "second");
    const first = world.named("first");
    const second = world.named("second");
    expect(world.asked([first])).toEqual(["second"]);
    expect(world.asked([first, second])).toEqual(["first", "second"]);
  });

  test("the group too, for 10 s after a pod answered without a name", () => {
    const world = new World("first");
    world.copies.group.waiting += 1;
    world.answer(world.copies.group, 1, "");
    expect(world.asked()).toEqual(["", "first"]);
    world.now += 10_000;
    expect(world.asked()).toEqual(["first"]);
  });

  test("the group alone for a minute after the server refused subjects of copies, or until another connection", () => {
    const world = new World("first");
    world.copies.refused(world.now);
    world.call("first");
    expect(world.asked()).toEqual([""]);
    world.copies.allowed();
    world.call("first");
    expect(world.asked()).toEqual(["first"]);
    world.copies.refused(world.now);
    world.now += 60_001;
    world.call("first");
    expect(world.asked()).toEqual(["first"]);
  });

  test("none whose subject nobody serves any more", () => {
    const world = new World("first", "second");
    world.copies.gone(world.named("first"));
    expect(world.asked()).toEqual(["second"]);
  });

  test("names that are no token of a subject, and more than 256 at a time, are ignored", () => {
    const world = new World("first");
    for (const name of ["*", ">", "a.b", "a b", "x".repeat(33), ""]) world.call(name);
    expect(world.asked()).toEqual(["first"]);
    for (let made = 0; made < 1_000; made++) world.call(`made-${made}`);
    const names = Array.from({ length: 20_000 }, () => world.copies.next(null, world.now).name);
    expect(new Set(names).size).toBe(256);
  });

  test("answers to calls that name another service are not believed", () => {
    const world = new World("first");
    world.copies.heardCall(`${callSubject("other")}.second`, world.now, world.now);
    world.copies.heardCall("", world.now, world.now);
    expect(world.asked()).toEqual(["first"]);
  });
});

describe("a copy that is 50 times slower", () => {
  test("is left out by its eight latest answers", () => {
    const world = new World("slow", "fast");
    world.answers({ slow: 100, fast: 2 }, 7);
    expect(world.asked()).toEqual(["fast", "slow"]);
    world.answers({ fast: 2, slow: 100 }, 1);
    expect(world.asked()).toEqual(["fast"]);
  });

  test("is not left out for 50 ms, for less than ten times as long, for one fast answer of eight, or alone", () => {
    const within = new World("slow", "fast");
    within.answers({ fast: 1, slow: 50 }, 20);
    expect(within.asked()).toEqual(["fast", "slow"]);
    const alike = new World("slow", "fast");
    alike.answers({ fast: 11, slow: 100 }, 20);
    expect(alike.asked()).toEqual(["fast", "slow"]);
    const sometimes = new World("slow", "fast");
    sometimes.answers({ fast: 2, slow: 200 }, 7);
    sometimes.answers({ fast: 2, slow: 10 }, 1);
    sometimes.answers({ fast: 2, slow: 200 }, 7);
    expect(sometimes.asked()).toEqual(["fast", "slow"]);
    const alone = new World("slow");
    alone.answers({ slow: 100 }, 20);
    expect(alone.asked()).toEqual(["slow"]);
  });

  test("is tried with one question in 500 ms while it answers calls, and taken back by an answer in time", () => {
    const world = new World("slow", "fast");
    world.answers({ fast: 2, slow: 100 }, 8);
    // No sign of life since it was left out.
    world.now += 500;
    expect(world.copies.trial(world.now)).toBeNull();
    world.call("slow");
    expect(world.copies.trial(world.now)?.name).toBe("slow");
    expect(world.copies.trial(world.now)).toBeNull();
    world.now += 499;
    world.call("slow");
    expect(world.copies.trial(world.now)).toBeNull();
    world.now += 1;
    const tried = world.copies.trial(world.now) as Copy;
    expect(tried.name).toBe("slow");
    tried.waiting += 1;
    world.now += 500;
    // It waits for an answer still.
    expect(world.copies.trial(world.now)).toBeNull();
    world.answer(tried, 500);
    expect(world.asked()).toEqual(["fast"]);
    tried.waiting += 1;
    world.answer(tried, 20);
    // Its answers of before count no more.
    world.answers({ slow: 100 }, 7);
    expect(world.asked()).toEqual(["fast", "slow"]);
  });

  test("costs a frame at most a second way: one of 10 frames, once it takes longer than four usual ones and 60 ms", () => {
    const world = new World("first", "second");
    world.answers({ first: 20, second: 20 }, 50);
    // All spare frames are used up first.
    const waits = (ms: number, frames: number): number => {
      let doubled = 0;
      for (let frame = 0; frame < frames; frame++) {
        const copy = world.ask();
        const sentAt = world.now;
        world.now += ms;
        world.call(copy.name);
        if (world.copies.judge(copy, sentAt, world.now) === "slow") doubled += 1;
        copy.waiting -= 1;
      }
      return doubled;
    };
    expect(waits(79, 100)).toBe(0);
    const first = waits(81, 100);
    expect(first).toBeGreaterThan(16);
    expect(first).toBeLessThanOrEqual(26);
    expect(waits(81, 100)).toBeLessThanOrEqual(11);
    expect(waits(150, 100)).toBeLessThanOrEqual(11);
  });
});

describe("a copy that hangs", () => {
  test("is left out after 120 ms in which it showed no sign of life", () => {
    const world = new World("first", "second");
    const copy = world.ask();
    const sentAt = world.now + 1;
    expect(world.copies.judge(copy, sentAt, sentAt + 119)).toBe("well");
    expect(world.copies.judge(copy, sentAt, sentAt + 120)).toBe("silent");
    copy.waiting -= 1;
    expect(world.asked()).toEqual([copy.name === "first" ? "second" : "first"]);
  });

  test("is left out at once for frames that were sent before it was found out", () => {
    const world = new World("first", "second");
    const copy = world.named("first");
    const sentAt = world.now + 1;
    world.copies.leaveOut(copy, sentAt + 1);
    expect(world.copies.judge(copy, sentAt, sentAt + 2)).toBe("silent");
  });

  test("has three times as long as the fastest call, where calls take long for all, up to 1 s", () => {
    const world = new World();
    world.call("first", 100);
    world.call("second", 200);
    expect(world.copies.silentMs).toBe(300);
    const far = new World();
    far.call("first", 5_000);
    far.call("second", 5_000);
    expect(far.copies.silentMs).toBe(1_000);
  });

  test("is not left out where no other is", () => {
    const world = new World("first");
    const copy = world.ask();
    expect(world.copies.judge(copy, world.now + 1, world.now + 5_000)).toBe("well");
    expect(world.asked()).toEqual(["first"]);
  });

  test("is not tried before it answers a call, and is asked at once then where no other is well", () => {
    const world = new World("first", "second");
    const first = world.named("first");
    const second = world.named("second");
    world.copies.leaveOut(first, world.now);
    world.now += 5_000;
    world.call("second");
    expect(world.copies.trial(world.now)?.name ?? "").toBe("");
    world.copies.leaveOut(second, world.now);
    world.now += 10;
    world.call("first");
    expect(world.asked()).toEqual(["first"]);
  });

  test("is forgotten after 10 s without a sign of life", () => {
    const world = new World("first", "second");
    world.now += 10_001;
    world.call("second");
    expect(world.copies.isCallDue(world.now, true)).toBe(false);
    world.copies.next(null, world.now);
    expect(world.copies.isCallDue(world.now, true)).toBe(true);
    expect(world.asked()).toEqual(["second"]);
  });
});

test("a copy that answers calls and leaves three frames in a row for 1 s is left out, unless one of them is answered", () => {
  const missing = (answered: boolean): string[] => {
    const world = new World("first", "second");
    world.answers({ first: 2, second: 2 }, 10);
    const copy = world.named("first");
    world.copies.miss(copy, world.now + 60);
    world.copies.miss(copy, world.now + 120);
    if (answered) world.copies.heardAnswer(copy, copySubject(service, "first"), null, world.now + 130);
    world.copies.miss(copy, world.now + 1_200);
    world.now += 1_200;
    return world.asked();
  };
  expect(missing(false)).toEqual(["second"]);
  expect(missing(true)).toEqual(["first", "second"]);
});

test("three frames that are missed within 1 s leave no copy out", () => {
  const world = new World("first", "second");
  const copy = world.named("first");
  for (const ms of [60, 120, 180, 999]) world.copies.miss(copy, world.now + ms);
  expect(world.asked()).toEqual(["first", "second"]);
});

test("a copy that returns no time with its answer to a call does not make all copies silent", () => {
  const world = new World("a", "b");
  world.call("a", Number.NaN);
  expect(world.copies.silentMs).toBe(120);
});

test("copies are called every 50 ms while a frame waits, every second for 10 s after the last request, then no more", () => {
  const copies = new Copies(service);
  expect(copies.isCallDue(0, true)).toBe(false);
  copies.next(null, 0);
  expect(copies.isCallDue(0, true)).toBe(true);
  expect(copies.isCallDue(48, true)).toBe(false);
  expect(copies.isCallDue(50, true)).toBe(true);
  expect(copies.isCallDue(900, false)).toBe(false);
  expect(copies.isCallDue(1_050, false)).toBe(true);
  expect(copies.isCallDue(10_001, false)).toBe(false);
  expect(copies.isUsed(10_001)).toBe(false);
});

test("any copy gets one question in 5 s by the group, to find pods without a name", () => {
  const world = new World("first");
  expect(world.copies.trial(world.now + 4_999)).toBeNull();
  expect(world.copies.trial(world.now + 5_000)?.name).toBe("");
  expect(world.copies.trial(world.now + 5_001)).toBeNull();
});
