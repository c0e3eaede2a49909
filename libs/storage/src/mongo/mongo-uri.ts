/** Reads the parts of a connection string that we need; the driver reads the rest. */

import { accessSync, constants } from "node:fs";
import { StoreError } from "../store-error.ts";

/** Strict about the places of @, so that no part of a password is taken for something else. */
const form = /^(mongodb(?:\+srv)?:\/\/)(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^@/?#]*))?(?:\?[^@#]*)?$/;

export interface MongoUri {
  /** For messages: without user, password and options. */
  readonly shown: string;
  readonly database: string;
}

/** Names of databases, by the rules of MongoDB that hold on all systems. */
const databaseName = /^[^/\\. "$*<>:|?\p{Cc}]{1,63}$/u;
/** Options that name a file; their names are case-insensitive. */
const fileOptions = ["tlsCAFile", "tlsCertificateKeyFile", "tlsCRLFile"];

/** Used if the URI names no database: the driver's own default is `test`. */
const defaultDatabase = "netfacts";

/** @throws StoreError that shows nothing of the text, which may hold a password. */
export function readMongoUri(uri: string): MongoUri {
  const [, scheme, _login, hosts, database] = form.exec(uri) ?? [];
  if (scheme === undefined || hosts === undefined) throw badUri("is not a MongoDB URI");
  const name = decoded(database || defaultDatabase);
  return { shown: `${scheme}${hosts}/${name}`, database: name };
}

/**
 * The fault of a URI, to follow the name of its setting; null: none that can be found without the driver and the server. Shows nothing of user and
 * password.
 */
export function mongoUriFault(uri: string): string | null {
  const [text, , login = ""] = form.exec(uri) ?? [];
  if (text === undefined) return `is not a MongoDB URI; ${remedy}`;
  if (!isPercentEncoded(login)) return "has a % in the user or the password that is not percent-encoded; write %25";
  const { database } = readMongoUri(uri);
  if (!databaseName.test(database))
    return 'names a database with a character that no name has (/ \\ . " $ * < > : | ?, a space or a line break), or with more than 63 characters';
  const options = new URLSearchParams(uri.split("?")[1] ?? "");
  for (const [name, path] of options) {
    const option = fileOptions.find((each) => each.toLowerCase() === name.toLowerCase());
    if (option === undefined) continue;
    try {
      accessSync(path, constants.R_OK);
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : "cannot be read";
      return `has ${option}=${path}, a file that ${reason}`;
    }
  }
  return null;
}

/** Text with an invalid encoding is returned unchanged. */
function decoded(text: string): string {
  return isPercentEncoded(text) ? decodeURIComponent(text) : text;
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const remedy = "write mongodb://USER:PASSWORD@HOST:PORT/DATABASE, with user and password percent-encoded";

export function badUri(explanation: string, shown = "mongodb://…"): StoreError {
  return new StoreError("unavailable", shown, explanation, undefined, remedy);
}
