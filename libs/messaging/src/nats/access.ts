/** The settings for logging in to NATS and for trusted certificates: checked without reading any file. */

import { isIP } from "node:net";

/** Members have the names of the settings, so that an error names the setting to change. Absent and empty are the same. */
export interface NatsAccess {
  readonly NATS_USER?: string | undefined;
  readonly NATS_PASSWORD?: string | undefined;
  readonly NATS_PASSWORD_FILE?: string | undefined;
  readonly NATS_TOKEN?: string | undefined;
  readonly NATS_TOKEN_FILE?: string | undefined;
  readonly NATS_NKEY_SEED?: string | undefined;
  readonly NATS_NKEY_SEED_FILE?: string | undefined;
  readonly NATS_CREDS_FILE?: string | undefined;
  readonly NATS_CA_FILE?: string | undefined;
  readonly NATS_CERT_FILE?: string | undefined;
  readonly NATS_KEY_FILE?: string | undefined;
  readonly NATS_ALLOW_UNAUTHENTICATED?: boolean | undefined;
}

const names = [
  "NATS_USER",
  "NATS_PASSWORD",
  "NATS_PASSWORD_FILE",
  "NATS_TOKEN",
  "NATS_TOKEN_FILE",
  "NATS_NKEY_SEED",
  "NATS_NKEY_SEED_FILE",
  "NATS_CREDS_FILE",
  "NATS_CA_FILE",
  "NATS_CERT_FILE",
  "NATS_KEY_FILE",
] as const satisfies readonly (keyof NatsAccess)[];

/** Selects them from the settings of a service, or from an environment. */
export function natsAccessOf(settings: Readonly<Record<string, unknown>>): NatsAccess {
  const set = names.filter((name) => settings[name] !== undefined && settings[name] !== "");
  return {
    ...Object.fromEntries(set.map((name) => [name, String(settings[name])])),
    NATS_ALLOW_UNAUTHENTICATED: String(settings.NATS_ALLOW_UNAUTHENTICATED) === "true",
  };
}

/** Settings that cannot be used together, or an invalid URL. Each fault is a sentence that names the settings. */
export class NatsSettingsError extends TypeError {
  override readonly name = "NatsSettingsError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** A text from the settings, or from a file that is read for each connection. */
export interface Secret {
  /** Its name in messages: the setting, and its file. */
  readonly from: string;
  readonly setting: string;
  /** The text itself, or the path if `isFile`. */
  readonly value: string;
  readonly isFile: boolean;
}

export type Login =
  | { readonly kind: "none" }
  | { readonly kind: "user"; readonly user: string; readonly userFrom: string; readonly password: Secret }
  | { readonly kind: "token" | "nkey" | "creds"; readonly secret: Secret };

export interface AccessPlan {
  /** `host:port` of each server. */
  readonly servers: readonly string[];
  readonly login: Login;
  /** Null: plain text, unless the server demands TLS. Members are null if they are not set. */
  readonly tls: { readonly ca: Secret | null; readonly certificate: Secret | null; readonly key: Secret | null } | null;
  readonly allowUnauthenticated: boolean;
}

/** @throws NatsSettingsError with every fault. */
export function planAccess(servers: string | readonly string[], access: NatsAccess): AccessPlan {
  const faults: string[] = [];
  const urls = readUrls(servers, faults);
  const logins = findLogins(urls, access, faults);
  if (logins.length > 1)
    faults.push(`${logins.map(({ named }) => named).join(" and ")} are different ways to log in to NATS; set only one`);
  const isTls = urls.some(({ protocol }) => protocol === "tls:");
  const files = (["NATS_CA_FILE", "NATS_CERT_FILE", "NATS_KEY_FILE"] as const).filter((name) => access[name]);
  if (files.length > 0 && !isTls && urls.length > 0)
    faults.push(`${files.join(" and ")} ${files.length === 1 ? "needs" : "need"} tls:// instead of nats:// in NATS_URL`);
  if (access.NATS_CERT_FILE && !access.NATS_KEY_FILE) faults.push("NATS_CERT_FILE needs NATS_KEY_FILE, the key of the certificate");
  if (access.NATS_KEY_FILE && !access.NATS_CERT_FILE) faults.push("NATS_KEY_FILE needs NATS_CERT_FILE, the certificate of the key");
  if (faults.length > 0) throw new NatsSettingsError(faults);
  const [ca, certificate, key] = (["NATS_CA_FILE", "NATS_CERT_FILE", "NATS_KEY_FILE"] as const).map((name) => inFile(name, access[name]));
  return {
    servers: urls.map(({ host }) => host),
    login: logins[0]?.login ?? { kind: "none" },
    tls: isTls ? { ca: ca ?? null, certificate: certificate ?? null, key: key ?? null } : null,
    allowUnauthenticated: access.NATS_ALLOW_UNAUTHENTICATED === true,
  };
}

const schemes = ["nats:", "tls:"];

function readUrls(servers: string | readonly string[], faults: string[]): URL[] {
  const texts = typeof servers === "string" ? servers.split(",") : servers;
  const urls = texts.map((text) => {
    const trimmed = text.trim();
    return URL.parse(trimmed.includes("://") ? trimmed : `nats://${trimmed}`);
  });
  const usable = urls.filter((url) => url !== null && isHost(url.hostname) && url.port !== "0" && schemes.includes(url.protocol)) as URL[];
  // The message must not contain the text: it may hold a password.
  if (usable.length < urls.length)
    faults.push("NATS_URL: a NATS URL has the form nats://user:password@host:4222, or tls:// instead of nats://");
  if (usable.some(({ username, password }) => decoded(username) === null || decoded(password) === null))
    faults.push("NATS_URL: the user or the password has a % that is not part of a code; write %25 for the character %");
  if (usable.some(({ username, password }) => username === "" && password !== "")) faults.push("NATS_URL: the password has no user");
  const users = new Set(usable.filter(({ username }) => username !== "").map(({ username, password }) => `${username}:${password}`));
  if (users.size > 1) faults.push("NATS_URL: its servers have different users; one user must fit all servers of a cluster");
  return usable;
}

/** Whether it can be the host of a server. A name of only digits and dots is a mistyped address. */
function isHost(text: string): boolean {
  return text !== "" && (!/^[\d.]+$/.test(text) || isIP(text) === 4);
}

/** Null: it is not valid percent-encoding. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

interface FoundLogin {
  readonly named: string;
  readonly login: Login;
}

function findLogins(urls: readonly URL[], access: NatsAccess, faults: string[]): FoundLogin[] {
  const found: FoundLogin[] = [];
  const inUrl = urls.find(({ username }) => username !== "");
  if (inUrl !== undefined) {
    const [user, password] = [decoded(inUrl.username) ?? "", decoded(inUrl.password) ?? ""];
    const secret = { setting: "NATS_URL", from: "NATS_URL", isFile: false };
    // A single part before the @ is a token, as in other NATS clients.
    const login: Login =
      password === ""
        ? { kind: "token", secret: { ...secret, value: user } }
        : { kind: "user", user, userFrom: "NATS_URL", password: { ...secret, value: password } };
    found.push({ named: "the credentials in NATS_URL", login });
  }
  const password = eitherForm("NATS_PASSWORD", access, faults);
  if (access.NATS_USER && password !== null) {
    const login: Login = { kind: "user", user: access.NATS_USER, userFrom: "NATS_USER", password };
    found.push({ named: `NATS_USER with ${password.setting}`, login });
  } else if (access.NATS_USER) faults.push("NATS_USER needs NATS_PASSWORD or NATS_PASSWORD_FILE");
  else if (password !== null) faults.push(`${password.setting} needs NATS_USER`);
  const token = eitherForm("NATS_TOKEN", access, faults);
  if (token !== null) found.push({ named: token.setting, login: { kind: "token", secret: token } });
  const seed = eitherForm("NATS_NKEY_SEED", access, faults);
  if (seed !== null) found.push({ named: seed.setting, login: { kind: "nkey", secret: seed } });
  const creds = inFile("NATS_CREDS_FILE", access.NATS_CREDS_FILE);
  if (creds !== null) found.push({ named: creds.setting, login: { kind: "creds", secret: creds } });
  return found;
}

function eitherForm(name: "NATS_PASSWORD" | "NATS_TOKEN" | "NATS_NKEY_SEED", access: NatsAccess, faults: string[]): Secret | null {
  const [value, file] = [access[name], inFile(`${name}_FILE`, access[`${name}_FILE`])];
  if (value && file !== null) faults.push(`${name} and ${name}_FILE are both set; set only one`);
  return file ?? (value ? { setting: name, from: name, value, isFile: false } : null);
}

function inFile(setting: string, path: string | undefined): Secret | null {
  return path ? { setting, from: `${setting} ${path}`, value: path, isFile: true } : null;
}
