/** The wall clock, behind an interface so that tests can replace it. */

export interface Clock {
  /** Milliseconds since 1970 UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
