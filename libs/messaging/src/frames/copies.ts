/** The copies of one service as one requester knows them: which of them answer, how fast, and which one is asked next. */

import { copySubject } from "./subjects.ts";

/** Interval of calls to the copies while a frame waits for its answer. */
export const callMs = 50;
/** Interval of calls while the service is in use and no frame waits. */
const idleCallMs = 1_000;
/** Time without a question after which copies are no longer called. */
const unusedMs = 10_000;
/** Time without a sign of life, during which a call was made, after which a copy is left out. Longer if calls take long for all copies. */
const silentMs = 120;
const silentMsMax = 1_000;
/** A frame that waits longer than this, and than four times the usual time, is sent to another copy too. */
const slowMs = { min: 60, max: 150 } as const;
/** Interval of questions to a copy that is left out, and to the group while all copies are known by name. */
const trialMs = { copy: 500, group: 5_000 } as const;
/** Silence after which a copy is forgotten. */
const forgetMs = 10_000;
/** Time for which the subjects of copies are not tried again after the server refused them. */
const refusedMs = 60_000;
/** A copy is slow if even the fastest of its latest answers took more than 50 ms, and ten times as long as the fastest answer of any other copy. */
const slowAnswers = { count: 8, ms: 50, times: 10 } as const;
/**
 * A copy is left out, even if it answers calls, when this many frames in a row wait too long and its last answer is this old, and ten times the usual
 * time.
 */
const missedFrames = { count: 3, ms: 1_000, times: 10 } as const;
/** Copies choose their names themselves: so the number of known names is limited, and a name must be a valid token of a subject. */
const copiesMax = 256;
const nameForm = /^[A-Za-z0-9_-]{1,32}$/;
/** One frame of 10 may be sent twice because it is slow. */
const spareFrames = { perFrame: 0.1, max: 16 } as const;

/** One copy, or the queue group of all copies. */
export interface Copy {
  /** A token of subjects; empty: the group. */
  readonly name: string;
  /** Number of frames that wait for its answer. */
  waiting: number;
  /** On the clock of `performance.now()`, as all times here. */
  heardAt: number;
  /** Time from which it is left out; null: it is asked normally. */
  outSince: number | null;
  nextTrialAt: number;
  /** The shortest recent time from a call to its answer, in ms. */
  callMs: number;
  /** Times of its latest answers, in ms. */
  answerMs: number[];
  /** Time of its last answer to a frame, or of its first question. */
  answeredAt: number;
  /** Number of frames since then that waited longer than usual. */
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
  /** Reaches any copy. The only way to pods of an older release, or if the server's permissions do not include subjects of copies. */
  readonly group: Copy = newCopy("", Number.NEGATIVE_INFINITY);
  readonly #named = new Map<string, Copy>();
  #calledAt = Number.NEGATIVE_INFINITY;
  #usedAt = Number.NEGATIVE_INFINITY;
  /** Time of the group's last answer that named no copy: there is a pod of an older release. */
  #unnamedAt = Number.NEGATIVE_INFINITY;
  #usualMs = 0;
  #spare: number = spareFrames.max;
  /** The server refuses the subjects of copies until this time. */
  #refusedUntil = 0;

  constructor(service: string) {
    this.service = service;
  }

  /** Whether all copies must be called now; the caller must then do so. */
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

  /** Call when a copy has answered a call. The copy returns the time of the call, and may return anything: NaN is ignored. */
  heardCall(subject: string, calledAt: number, now: number): void {
    const name = this.#nameIn(subject);
    if (name === "" || Number.isNaN(calledAt) || now < this.#refusedUntil) return;
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
   * Call when a frame was answered; `ms` is given for its first answer only.
   *
   * @param subject  the name of the copy in the answer, as a subject; undefined: none.
   * @param ms       time from the frame to its first answer; null: this is not the first.
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
   * The copy that gets the next frame: of those that answer, one with the fewest frames.
   *
   * @param except  copies that were asked already.
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

  /** A copy that is due for a trial with one question now, if any. */
  trial(now: number): Copy | null {
    if (this.#named.size === 0) return null;
    for (const copy of this.#named.values()) if (isTrialDue(copy, now)) return this.#tried(copy, trialMs.copy, now);
    const { group } = this;
    if (this.#isGroupNeeded(now) || group.waiting > 0 || now < group.nextTrialAt) return null;
    return this.#tried(group, trialMs.group, now);
  }

  /** Time that a frame may wait before `judge` is called. */
  get slowMs(): number {
    return Math.min(slowMs.max, Math.max(slowMs.min, 4 * this.#usualMs));
  }

  /** Longest silence of a healthy copy. */
  get silentMs(): number {
    let fastest = Number.POSITIVE_INFINITY;
    for (const copy of this.#named.values()) if (copy.outSince === null) fastest = Math.min(fastest, copy.callMs);
    return fastest === Number.POSITIVE_INFINITY ? silentMs : Math.min(silentMsMax, Math.max(silentMs, 3 * fastest));
  }

  /** Judges a copy by a frame that waits. `silent` leaves the copy out; `slow` may use up one of the spare frames. */
  judge(copy: Copy, sentAt: number, now: number): "silent" | "slow" | "well" {
    if (!this.hasOther(copy, now)) return "well";
    if (copy !== this.group && copy.heardAt < sentAt) {
      const isLeftOut = copy.outSince !== null && copy.outSince > sentAt;
      if (!isLeftOut && now - sentAt < this.silentMs) return "well";
      this.leaveOut(copy, now);
      return "silent";
    }
    // The only named copy may be the one that has this frame.
    const isPerhapsHere = copy === this.group && this.#named.size === 1;
    if (now - sentAt < (isPerhapsHere ? slowMs.max : this.slowMs)) return "well";
    const isTried = copy === this.group ? !this.#isGroupNeeded(now) : copy.outSince !== null;
    if (!isTried || isPerhapsHere) {
      if (this.#spare < 1) return "well";
      this.#spare -= 1;
    }
    return "slow";
  }

  /** Call when a frame to the copy waits longer than usual, and none of its items is answered. */
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

  /** Call when nobody serves the subject of this copy any more. */
  gone(copy: Copy): void {
    this.#named.delete(copy.name);
  }

  /** Call when the server refuses a subject of copies: only the group is asked, for a minute or until `allowed`. */
  refused(now: number): void {
    this.#refusedUntil = now + refusedMs;
    this.#named.clear();
  }

  /** Call after a reconnect: copies are called again at once. */
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
      // All copies with the same number are equally likely.
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
