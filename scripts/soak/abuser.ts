/**
 * All abuses at a time, as a process beside the polite load: each from an address of its own. It is started by `fork` with its targets as
 * JSON; it goes on until it is told to stop, and then tells how it was answered.
 */

import { type Abuser, abuses } from "../../test/support/abuses.ts";

/** An installation that is abused. */
export interface AbusedTarget {
  readonly urls: readonly string[];
  readonly key: string;
  /** Of the connections of one who does his worst. */
  readonly share: number;
}

/** How often each abuse was answered how: lines such as `held batches 503`. */
export type AbuseTally = Readonly<Record<string, number>>;

/** All of 127.0.0.0/8 is this machine; the polite load comes from 127.0.0.1. */
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
// Who started it is gone.
process.once("disconnect", () => process.exit(1));
await Promise.all(running);
