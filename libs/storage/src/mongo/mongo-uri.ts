/** Reads the parts of a connection string that we need; the driver reads the rest. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { StoreError } from "../store-error.ts";

/** Strict about the places of @, so that no part of a password is taken for something else. */
const form = /^(mongodb(?:\+srv)?:\/\/)(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^@/?#]*))?(?:\?[^@#]*)?$/;

/** A host as the driver reads it: a name, an IPv4 address, IPv6 in brackets without a zone, or an encoded path of a socket; then a port. */
const hostForm = /^(?:$|\[[\da-f:.]+\]|[^:[\]]+)(?::(?<port>\d*))?$/i;

const portMax = 65_535;

export interface MongoUri {
  /** For messages: without user, password and options. */
  readonly shown: string;
  readonly database: string;
}

/** Names of databases, by the rules of MongoDB that hold on all systems. */
const databaseName = /^[^/\\. "$*<>:|?\p{Cc}]{1,63}$/u;
/** What an option's file must hold; throws if it does not. */
interface FileOption {
  readonly name: string;
  readonly holds: string;
  check(content: Buffer, passphrase: string | undefined): unknown;
}

/** Options that name a file. Names of options are case-insensitive. */
const fileOptions: readonly FileOption[] = [
  {
    name: "tlsCAFile",
    holds: "a certificate in PEM form",
    // In the form DER, Node ignores it.
    check: (content) => new X509Certificate(content.toString()),
  },
  {
    name: "tlsCertificateKeyFile",
    holds: "a certificate and its key in PEM form that tlsCertificateKeyFilePassword opens, if the key is encrypted",
    check: (content, passphrase) => createSecureContext({ cert: content, key: content, ...(passphrase !== undefined && { passphrase }) }),
  },
  { name: "tlsCRLFile", holds: "a list of revoked certificates in PEM form", check: (content) => createSecureContext({ crl: content }) },
];

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
  const [text, scheme = "", login = "", hosts = ""] = form.exec(uri) ?? [];
  if (text === undefined) return `is not a MongoDB URI; ${remedy}`;
  if (!isPercentEncoded(login)) return "has a % in the user or the password that is not percent-encoded; write %25";
  const ofHosts = hosts.split(",").map((host) => hostFault(scheme, host));
  const badHost = ofHosts.find((each) => each !== null);
  if (badHost !== undefined) return badHost;
  const { database } = readMongoUri(uri);
  if (!databaseName.test(database))
    return 'names a database with a character that no name has (/ \\ . " $ * < > : | ?, a space or a line break), or with more than 63 characters';
  const options = [...new URLSearchParams(uri.split("?")[1] ?? "")].map(([name, value]) => [name.toLowerCase(), value] as const);
  const passphrase = new Map(options).get("tlscertificatekeyfilepassword");
  for (const [name, path] of options) {
    const option = fileOptions.find((each) => each.name.toLowerCase() === name);
    const fault = option === undefined ? null : fileFault(option, path, passphrase);
    if (fault !== null) return `has ${option?.name}=${path}, a file ${fault}`;
  }
  return null;
}

function hostFault(scheme: string, host: string): string | null {
  const found = hostForm.exec(host);
  const port = found?.groups?.port ?? "";
  if (found !== null && port !== "" && scheme.includes("+srv"))
    return `has the port ${port}; mongodb+srv:// takes ports from DNS, write none`;
  const isPort = port === "" || (Number(port) > 0 && Number(port) <= portMax);
  return found !== null && isPort
    ? null
    : `has the host ${JSON.stringify(host)}; write HOST:PORT, with a port from 1 to ${portMax}, and brackets around an IPv6 address`;
}

/** Options whose values are secrets. */
const secretOptions: ReadonlySet<string> = new Set(["tlscertificatekeyfilepassword", "authmechanismproperties", "proxypassword"]);

/**
 * The options of a URI that a message of the driver mentions, as the URI spells them. The message itself may repeat values, which can be secrets. Empty
 * if an option is a secret: behind an & that is not encoded, the rest of it would be taken for a name.
 */
export function optionsNamedIn(message: string, uri: string): string[] {
  const words = new Set(message.toLowerCase().match(/\w+/g));
  const names = [...new Set(new URLSearchParams(uri.split("?")[1] ?? "").keys())];
  if (names.some((name) => secretOptions.has(name.toLowerCase()))) return [];
  return names.filter((name) => words.has(name.toLowerCase()));
}

function fileFault({ holds, check }: FileOption, path: string, passphrase: string | undefined): string | null {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "that does not exist" : "that cannot be read";
  }
  try {
    check(content, passphrase);
    return null;
  } catch {
    return `without ${holds}`;
  }
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

export function badUri(explanation: string, shown = "mongodb://…", what = remedy): StoreError {
  return new StoreError("unavailable", shown, explanation, undefined, what);
}
