/** The copies of one service as one requester knows them: which of them answer, how soon, and which is asked next. */

import { copySubject } from "./subjects.ts";

/** Interval of calls to the copies while a frame waits for its answer. */
export const callMs = 50;
/** Interval of calls while the service is asked now and then. */
const idleCallMs = 1_000;
/** Time without a question after which copies are not called any more. */
const unusedMs = 10_000;
/** Time without a sign of life, and with a call in it, after which a copy is left out. Longer where calls take long for all copies. */
const silentMs = 120;
const silentMsMax = 1_000;
/** A frame that waits longer than this, and than four usual frames, is sent to another copy too. */
const slowMs = { min: 60, max: 150 } as const;
/** Interval of questions to a copy that is left out, and to the group while all copies are known by name. */
const trialMs = { copy: 500, group: 5_000 } as const;
/** Silence after which a copy is forgotten. */
const forgetMs = 10_000;
/** Time for which subjects that the server refused are not tried again. */
const refusedMs = 60_000;
/** Latest answers of a copy by which it is found slow: even the fastest is over 50 ms, and ten times that of the fastest copy. */
const slowAnswers = { count: 8, ms: 50, times: 10 } as const;
/** Frames in a row without an answer, for so long that the others answered many, after which a copy is left out though it answers calls. */
const missedFrames = { count: 3, ms: 1_000, times: 10 } as const;
/** Names are what copies say of themselves: no more are known at a time, and none that is no token of a subject. */
const copiesMax = 256;
const nameForm = /^[A-Za-z0-9_-]{1,32}$/;
/** Of 10 frames one may be sent twice because it is slow. */
const spareFrames = { perFrame: 0.1, max: 16 } as const;

/** One copy, or the queue group of all. */
export interface Copy {
  /** A token of subjects; empty: the group. */
  readonly name: string;
  /** Frames that wait for its answer. */
  waiting: number;
  /** On the clock of `performance.now()`, as all times here. */
  heardAt: number;
  /** Since when it is left out; null: it is asked as others are. */
  outSince: number | null;
  nextTrialAt: number;
  /** The shortest time of a call to its answer, lately, in ms. */
  callMs: number;
  /** Times of its latest answers, in ms. */
  answerMs: number[];
  /** When it last answered a frame, or was first asked. */
  answeredAt: number;
  /** Frames since then that wait longer than is usual. */
  missed: number;
}

function newCopy(name: string, now: number): Copy {
  return {
    name,
    waiting: 0,
    heardAt: now,
    outSince: null,
    nextTrialAt: 0,
    callMs: Number.POSITIVE_INFINITY,
    answerMs: [],
    answeredAt: now,
    missed: 0,
  };
}

export class Copies {
  readonly service: string;
  /** Reaches any copy; the only one for pods of an older release, and where the server's permissions know no copies. */
  readonly group: Copy = newCopy("", Number.NEGATIVE_INFINITY);
  readonly #named = new Map<string, Copy>();
  #calledAt = Number.NEGATIVE_INFINITY;
  #usedAt = Number.NEGATIVE_INFINITY;
  /** When the group last brought an answer that named no copy: there is a pod of an older release. */
  #unnamedAt = Number.NEGATIVE_INFINITY;
  #usualMs = 0;
  #spare: number = spareFrames.max;
  /** The server refuses subjects of copies. */
  #refusedUntil = 0;

  constructor(service: string) {
    this.service = service;
  }

  /** Whether to call all copies now; the caller then does. */
  isCallDue(now: number, waits: boolean): boolean {
    if (now < this.#refusedUntil || now - this.#usedAt > unusedMs) return false;
    if (now - this.#calledAt < (waits ? callMs : idleCallMs) - 1) return false;
    this.#calledAt = now;
    for (const copy of this.#named.values()) if (now - copy.heardAt > forgetMs && copy.waiting === 0) this.#named.delete(copy.name);
    return true;
  }

  isUsed(now: number): boolean {
    return now - this.#usedAt <= unusedMs;
  }

  /** A copy has answered a call. */
  heardCall(subject: string, calledAt: number, now: number): void {
    const name = this.#nameIn(subject);
    if (name === "" || now < this.#refusedUntil) return;
    let copy = this.#named.get(name);
    if (copy === undefined) {
      if (this.#named.size >= copiesMax) return;
      if (this.#named.size === 0) this.group.nextTrialAt = now + trialMs.group;
      copy = newCopy(name, now);
      this.#named.set(name, copy);
    }
    copy.heardAt = now;
    const ms = Math.max(0, now - calledAt);
    copy.callMs = ms < copy.callMs ? ms : 0.9 * copy.callMs + 0.1 * Math.min(ms, silentMsMax);
  }

  /**
   * A frame was answered, for the first time where `ms` is told.
   *
   * @param subject  by which the answer names its copy; undefined: none.
   * @param ms       from the frame to the answer; null: it is not the first.
   */
  heardAnswer(asked: Copy, subject: string | undefined, ms: number | null, now: number): void {
    const name = this.#nameIn(subject ?? "");
    const copy = asked === this.group ? this.#named.get(name) : asked;
    if (asked === this.group && name === "") this.#unnamedAt = now;
    if (copy === undefined) return;
    copy.heardAt = now;
    copy.answeredAt = now;
    copy.missed = 0;
    if (ms === null) return;
    if (copy.outSince !== null) {
      if (asked === copy && ms <= this.slowMs) this.#takeBack(copy);
      return;
    }
    this.#usualMs = this.#usualMs === 0 ? ms : 0.9 * this.#usualMs + 0.1 * ms;
    copy.answerMs.push(ms);
    if (copy.answerMs.length > slowAnswers.count) copy.answerMs.shift();
    if (ms > slowAnswers.ms && this.#isSlow(copy)) this.leaveOut(copy, now);
  }

  /**
   * The copy that gets the next frame: of those that answer, one that has the fewest frames.
   *
   * @param except  those that were asked already.
   */
  next(except: ReadonlySet<Copy> | null, now: number): Copy {
    this.#usedAt = now;
    this.#spare = Math.min(spareFrames.max, this.#spare + spareFrames.perFrame);
    return this.#best(except, now) ?? this.#best(null, now) ?? this.group;
  }

  /** Whether there is another copy that answers. */
  hasOther(copy: Copy, now: number): boolean {
    return this.#best(new Set([copy]), now) !== null;
  }

  /** A copy that is tried with one question now, if any. */
  trial(now: number): Copy | null {
    if (this.#named.size === 0) return null;
    for (const copy of this.#named.values()) if (isTrialDue(copy, now)) return this.#tried(copy, trialMs.copy, now);
    const { group } = this;
    if (this.#isGroupNeeded(now) || group.waiting > 0 || now < group.nextTrialAt) return null;
    return this.#tried(group, trialMs.group, now);
  }

  /** How long a frame may wait until `judge` is asked. */
  get slowMs(): number {
    return Math.min(slowMs.max, Math.max(slowMs.min, 4 * this.#usualMs));
  }

  /** Longest silence of a copy that is well. */
  get silentMs(): number {
    let fastest = Number.POSITIVE_INFINITY;
    for (const copy of this.#named.values()) if (copy.outSince === null) fastest = Math.min(fastest, copy.callMs);
    return fastest === Number.POSITIVE_INFINITY ? silentMs : Math.min(silentMsMax, Math.max(silentMs, 3 * fastest));
  }

  /** What a frame that waits says about its copy. `silent` leaves the copy out, `slow` uses up one of the spare frames. */
  judge(copy: Copy, sentAt: number, now: number): "silent" | "slow" | "well" {
    if (!this.hasOther(copy, now)) return "well";
    if (copy !== this.group && copy.heardAt < sentAt) {
      const isLeftOut = copy.outSince !== null && copy.outSince > sentAt;
      if (!isLeftOut && now - sentAt < this.silentMs) return "well";
      this.leaveOut(copy, now);
      return "silent";
    }
    // The only copy with a name may be the one that has this frame.
    const isPerhapsHere = copy === this.group && this.#named.size === 1;
    if (now - sentAt < (isPerhapsHere ? slowMs.max : this.slowMs)) return "well";
    const isTried = copy === this.group ? !this.#isGroupNeeded(now) : copy.outSince !== null;
    if (!isTried || isPerhapsHere) {
      if (this.#spare < 1) return "well";
      this.#spare -= 1;
    }
    return "slow";
  }

  /** A frame to it waits longer than is usual, and it has answered none of its items. */
  miss(copy: Copy, now: number): void {
    copy.missed += 1;
    const isLong = now - copy.answeredAt > Math.max(missedFrames.ms, missedFrames.times * this.#usualMs);
    if (isLong && copy.missed >= missedFrames.count && this.hasOther(copy, now)) this.leaveOut(copy, now);
  }

  leaveOut(copy: Copy, now: number): void {
    if (copy === this.group || copy.outSince !== null) return;
    copy.outSince = now;
    copy.nextTrialAt = now + trialMs.copy;
  }

  /** Nobody serves the subject of this copy any more. */
  gone(copy: Copy): void {
    this.#named.delete(copy.name);
  }

  /** The server refuses a subject of copies: the group alone is asked, for a minute or until `allowed`. */
  refused(now: number): void {
    this.#refusedUntil = now + refusedMs;
    this.#named.clear();
  }

  /** Another connection: what is known is looked at anew. */
  allowed(): void {
    this.#refusedUntil = 0;
    this.#calledAt = Number.NEGATIVE_INFINITY;
  }

  #nameIn(subject: string): string {
    const before = copySubject(this.service, "");
    const name = subject.startsWith(before) ? subject.slice(before.length) : "";
    return nameForm.test(name) ? name : "";
  }

  #best(except: ReadonlySet<Copy> | null, now: number): Copy | null {
    let best: Copy | null = null;
    let alike = 1;
    const consider = (copy: Copy) => {
      if (except?.has(copy) === true) return;
      if (best === null || copy.waiting < best.waiting) {
        best = copy;
        alike = 1;
        return;
      }
      // Of those that have as few, each is as likely.
      if (copy.waiting === best.waiting && Math.random() * ++alike < 1) best = copy;
    };
    for (const copy of this.#named.values()) if (copy.outSince === null) consider(copy);
    if (this.#named.size > 0 && this.#isGroupNeeded(now)) consider(this.group);
    if (best === null) for (const copy of this.#named.values()) if (answersAgain(copy)) consider(copy);
    return best;
  }

  #isGroupNeeded(now: number): boolean {
    return now - this.#unnamedAt < forgetMs;
  }

  #tried(copy: Copy, ms: number, now: number): Copy {
    copy.nextTrialAt = now + ms;
    return copy;
  }

  #takeBack(copy: Copy): void {
    copy.outSince = null;
    copy.answerMs = [];
  }

  #isSlow(copy: Copy): boolean {
    if (copy.answerMs.length < slowAnswers.count) return false;
    let fastest = Number.POSITIVE_INFINITY;
    for (const other of this.#named.values()) {
      if (other === copy || other.outSince !== null || other.answerMs.length < slowAnswers.count) continue;
      fastest = Math.min(fastest, ...other.answerMs);
    }
    return fastest < Number.POSITIVE_INFINITY && Math.min(...copy.answerMs) > Math.max(slowAnswers.ms, slowAnswers.times * fastest);
  }
}

function answersAgain({ heardAt, outSince }: Copy): boolean {
  return outSince !== null && heardAt > outSince;
}

function isTrialDue(copy: Copy, now: number): boolean {
  return answersAgain(copy) && copy.waiting === 0 && now >= copy.nextTrialAt;
}
