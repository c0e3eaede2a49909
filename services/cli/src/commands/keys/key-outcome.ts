/** The outcome of a change of a key: the key, or an error. */

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
      throw new CliError(exitCodes.refused, `${lastAdminRefusal(id, outcome.loss)}: create another one first, or use --force`);
  }
}

function lastAdminRefusal(id: string, loss: "key" | "time" | "networks"): string {
  switch (loss) {
    case "key":
      return `key ${id} is the last active key with the scope admin`;
    case "time":
      return `no key with the scope admin would be active after the new expiry of key ${id}`;
    case "networks":
      return `no active key with the scope admin would work from all networks that key ${id} works from now`;
  }
}

export function revokedIsFinal(id: string): CliError {
  return new CliError(exitCodes.refused, `key ${id} is revoked, which is final: create a new one with \`netfacts keys create\``);
}
