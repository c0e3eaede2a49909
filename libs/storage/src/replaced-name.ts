/** Names of the files that keep what a restore replaced. */

import { existsSync } from "node:fs";

/**
 * The ending of such a name, with the time: `.replaced-20261121T090000Z`. If one of the files exists, as after another restore in the same second, a
 * number follows.
 *
 * @param files  gets an ending; returns all files that would have it.
 */
export function replacedEnding(now: number, files: (ending: string) => readonly string[]): string {
  const ending = `.replaced-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? ending : `${ending}-${number}`;
    if (!files(numbered).some((file) => existsSync(file))) return numbered;
  }
}
