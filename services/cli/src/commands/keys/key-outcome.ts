/** What became of a change of a key: the key, or why not. */

import type { KeyOutcome, KeyRecord } from "@netfacts/keys";
import { CliError } from "../../cli-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { keyNotFound } from "./key-id.ts";

export function changedKey(id: string, outcome: KeyOutcome): KeyRecord {
  switch (outcome.outcome) {
    case "changed":
    case "unchanged":
      return outcome.key;
    case "absent":
      throw keyNotFound(id);
    case "revoked":
      throw revokedIsFinal(id);
    case "last-admin":
      throw new CliError(
        exitCodes.refused,
        `key ${id} is the last active key with the scope admin: create another one first, or use --force`,
      );
  }
}

export function revokedIsFinal(id: string): CliError {
  return new CliError(exitCodes.refused, `key ${id} is revoked, which is final: create a new one with \`netfacts keys create\``);
}
