/**
 * Runs all abuses at the same time, each from its own address, as a separate process beside the polite load. It is started by `fork` with its
 * targets as JSON. It runs until it gets a message, and then reports its tally.
 */

import { type Abuser, abuses } from "../../test/support/abuses.ts";

/** An installation to abuse. */
export interface AbusedTarget {
  readonly urls: readonly string[];
  readonly key: string;
  /** Share of the most connections that each abuse opens, from 0 to 1. */
  readonly share: number;
}

/** Number of answers by abuse and outcome: `held batches 503`. */
export type AbuseTally = Readonly<Record<string, number>>;

/** Address of an abuse: all of 127.0.0.0/8 is this machine, and the polite load comes from 127.0.0.1. */
const addressOf = (abuse: number) => `127.0.1.${abuse + 1}`;

const targets = JSON.parse(process.argv[2] ?? "[]") as AbusedTarget[];
const tally: Record<string, number> = {};
let isOver = false;

const running = Object.entries(abuses).flatMap(([name, abuse], number) =>
  targets.map((target) => {
    const abuser: Abuser = {
      ...target,
      from: addressOf(number),
      pauseMs: 250,
      dripMs: 5_000,
      isOver: () => isOver,
      tell(outcome) {
        const line = `${name} ${outcome}`;
        tally[line] = (tally[line] ?? 0) + 1;
      },
    };
    return abuse(abuser);
  }),
);
process.once("message", () => {
  isOver = true;
  process.send?.(tally satisfies AbuseTally, () => process.exit(0));
});
// The parent process is gone.
process.once("disconnect", () => process.exit(1));
await Promise.all(running);
