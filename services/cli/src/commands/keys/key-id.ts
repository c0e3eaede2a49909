/** Ids of keys in arguments of commands. */

import { CliError } from "../../cli-error.ts";
import { exitCodes } from "../../exit-codes.ts";

const keyName = /^(?:nf_(?:live|test)_)?([0-9A-Za-z]{8})(?:_.*)?$/;

/** The id in a pasted text: the id itself, the display form, or a whole key. Errors never repeat the text, because it may have a secret. */
export function keyIdOf(text: string): string {
  const id = keyName.exec(text)?.[1];
  if (id === undefined) throw new CliError(exitCodes.usage, "not a key id: a key id has 8 letters and digits, as in `netfacts keys list`");
  return id.toUpperCase();
}

export function keyNotFound(id: string): CliError {
  return new CliError(exitCodes.notFound, `there is no key ${id}; \`netfacts keys list\` lists all keys`);
}
