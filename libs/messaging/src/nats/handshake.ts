/** Prepares each attempt to connect to NATS: reads credentials and certificates again, and checks the server before anything is sent to it. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { getSystemErrorMessage } from "node:util";
import {
  type Authenticator,
  credsAuthenticator,
  nkeyAuthenticator,
  type ServerInfo,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "nats";
import type { AccessPlan, Login, Secret } from "./access.ts";
import { reasonOf } from "./refusals.ts";

/** An attempt failed. */
export interface Refusal {
  /** `host:port`. */
  readonly server: string;
  /** A sentence that says what is wrong, and with which setting and file. */
  readonly reason: string;
}

/** A fault of a setting, of a file, or of the server's offer; its message is a whole sentence. */
export class AccessError extends Error {
  override readonly name = "AccessError";
}

export class Handshake {
  readonly plan: AccessPlan;
  readonly #onRefused: (refusal: Refusal) => void;
  #authenticator: Authenticator = () => undefined;

  constructor(plan: AccessPlan, onRefused: (refusal: Refusal) => void) {
    this.plan = plan;
    this.#onRefused = onRefused;
  }

  /** For the client, which calls it after `prepare`. An exception in it would end the connection. */
  readonly authenticator: Authenticator = (nonce) => this.#authenticator(nonce);

  /**
   * Reads credentials and certificates, so that replaced ones are used from the next connection on.
   *
   * @returns the options of TLS; null: TLS is not configured.
   * @throws AccessError that names the setting and its file.
   */
  async prepare(): Promise<SecureContextOptions | null> {
    this.#authenticator = await authenticatorOf(this.plan.login);
    const { tls } = this.plan;
    if (tls === null) return null;
    const [ca, cert, key] = await Promise.all(
      [tls.ca, tls.certificate, tls.key].map((secret) => (secret === null ? null : textOf(secret))),
    );
    const context = { ...(ca != null && { ca }), ...(cert != null && { cert }), ...(key != null && { key }) };
    if (tls.ca !== null && ca != null) checked(`${tls.ca.from}: no certificate in PEM form`, () => new X509Certificate(ca));
    const pair = [tls.certificate, tls.key].flatMap((secret) => (secret === null ? [] : [secret.from])).join(" and ");
    if (cert != null && key != null && isOtherKey(cert, key)) throw new AccessError(`${pair}: the key is not that of the certificate`);
    checked(`${pair}: not a certificate and its key in PEM form`, () => createSecureContext(context));
    return context;
  }

  /** @throws AccessError for a server outside loopback that needs no credentials, unless that is allowed. */
  admit(info: ServerInfo & { readonly tls_verify?: boolean }, address: string): void {
    if (info.auth_required === true || info.tls_verify === true || this.plan.allowUnauthenticated || isLoopback(address)) return;
    throw new AccessError(
      "requires no credentials, so anyone who reaches it can pose as a service: set up its users, or set NATS_ALLOW_UNAUTHENTICATED=true",
    );
  }

  refused(server: string, error: Error | undefined): void {
    this.#onRefused({ server, reason: `${server} ${reasonOf(error, this.plan)}` });
  }
}

/** Whether both can be read and do not belong together, as while only one of two files has been replaced. */
function isOtherKey(cert: string, key: string): boolean {
  try {
    return !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(::ffff:)?127\./.test(address);
}

async function authenticatorOf(login: Login): Promise<Authenticator> {
  if (login.kind === "none") return () => undefined;
  if (login.kind === "user") return usernamePasswordAuthenticator(login.user, await textOf(login.password));
  const { kind, secret } = login;
  const text = await textOf(secret);
  if (kind === "token") return tokenAuthenticator(text);
  const bytes = new TextEncoder().encode(kind === "creds" ? `${text}\n` : text);
  const authenticator = kind === "nkey" ? nkeyAuthenticator(bytes) : credsAuthenticator(bytes);
  const form = kind === "nkey" ? "the seed of an NKey, which begins with SU" : "a .creds file, with a JWT and a seed";
  checked(`${secret.from}: not ${form}`, () => authenticator("nonce"));
  return authenticator;
}

async function textOf({ value, isFile, from }: Secret): Promise<string> {
  if (!isFile) return value;
  let text: string;
  try {
    text = (await readFile(value, "utf8")).trim();
  } catch (cause) {
    const { code, errno } = cause as NodeJS.ErrnoException;
    const reason = errno === undefined ? "it is not a text file" : getSystemErrorMessage(errno);
    throw new AccessError(`${from}: ${code === "ENOENT" ? "there is no such file" : `the file cannot be read: ${reason}`}`, { cause });
  }
  if (text === "") throw new AccessError(`${from}: the file is empty`);
  return text;
}

function checked(fault: string, read: () => unknown): void {
  try {
    read();
  } catch (cause) {
    throw new AccessError(fault, { cause });
  }
}
