/** What we need to know of a connection string; the driver reads the rest. */

import { StoreError } from "../store-error.ts";

/** Strict where an @ may stand, so that no part of a password is taken for something else. */
const form = /^(mongodb(?:\+srv)?:\/\/)(?:[^@/?#]*@)?([^@/?#]+)(?:\/([^@/?#]*))?(?:\?[^@#]*)?$/;

export interface MongoUri {
  /** For messages: without user, password and options. */
  readonly shown: string;
  readonly database: string;
}

/** Used where the URI names no database: the driver's own default is `test`. */
export const defaultDatabase = "netfacts";

/** @throws StoreError that shows nothing of the text, which may hold a password. */
export function readMongoUri(uri: string): MongoUri {
  const [, scheme, hosts, database] = form.exec(uri) ?? [];
  if (scheme === undefined || hosts === undefined) throw badUri("is not a MongoDB URI");
  const name = database || defaultDatabase;
  return { shown: `${scheme}${hosts}/${name}`, database: name };
}

export function badUri(explanation: string, shown = "mongodb://…"): StoreError {
  const remedy = "write mongodb://USER:PASSWORD@HOST:PORT/DATABASE, with user and password percent-encoded";
  return new StoreError("unavailable", shown, explanation, undefined, remedy);
}
