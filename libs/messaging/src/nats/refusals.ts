/** The reason why an attempt to connect to NATS failed, in a sentence that names the setting and the file to check. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { AccessPlan, Login } from "./access.ts";

type Reason = (plan: AccessPlan, error: Error) => string;

/** By the error code of the client, of Node or of OpenSSL; the first match applies. */
const reasons: readonly (readonly [RegExp, Reason])[] = [
  [/^(CONNECTION_REFUSED|ECONNREFUSED)$/, () => "refuses the connection: nats-server does not listen there (NATS_URL)"],
  [/^(ENOTFOUND|EAI_NONAME)$/, () => "is not known: there is no such host (NATS_URL)"],
  [/^(EAI_AGAIN|ETIMEOUT|NAME_TIMEOUT)$/, () => "cannot be looked up: the nameserver does not answer"],
  [/^(TIMEOUT|ETIMEDOUT)$/, () => "does not answer (NATS_URL)"],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, () => "cannot be reached: there is no route to it (NATS_URL)"],
  [/^AUTHORIZATION_VIOLATION$/, ({ login, tls }) => credentialsRefused(login, tls?.certificate?.from ?? null)],
  [/^(AUTHENTICATION_EXPIRED|ACCOUNT_EXPIRED)$/, ({ login }) => `says that the credentials have expired${inBrackets(login)}`],
  [/^AUTHENTICATION_TIMEOUT$/, () => "waited too long for credentials"],
  [/^SERVER_OPT_NA$/, () => "offers no TLS, and NATS_URL says tls://: nothing was sent to it"],
  [/^CERT_HAS_EXPIRED$/, (_, error) => `has a certificate that has expired${until(error)}`],
  [/^CERT_NOT_YET_VALID$/, () => "has a certificate that is not valid yet; compare the clocks"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, () => "has a certificate for other names than the one in NATS_URL"],
  [/UNABLE_TO|SELF_SIGNED|CERT_UNTRUSTED|INVALID_CA|CERT_SIGNATURE/, unknownAuthority],
  [/CERTIFICATE_REQUIRED|ALERT_(HANDSHAKE_FAILURE|.*CERTIFICATE|UNKNOWN_CA)/, certificateRefused],
  [/^ERR_SSL/, (_, error) => `cannot agree on TLS (${codeOf(error)})`],
];

/** The text after the name of the server: "refuses …", "asks for …". Reads files only to find an expired or a damaged certificate. */
export function reasonOf(error: Error | undefined, plan: AccessPlan): string {
  if (error === undefined) return "closed the connection";
  if (error.name === "AccessError") return /^NATS_/.test(error.message) ? `was not asked: ${error.message}` : error.message;
  const code = codeOf(error);
  const found = reasons.find(([pattern]) => pattern.test(code));
  return found === undefined ? `cannot be used: ${error.message}` : found[1](plan, error);
}

function codeOf(error: Error): string {
  const { code = "", chainedError } = error as Error & { code?: string; chainedError?: Error & { code?: string } };
  return /^(TLS|BAD_.*|)$/.test(code) && chainedError?.code !== undefined ? chainedError.code : code;
}

function credentialsRefused(login: Login, certificate: string | null): string {
  if (login.kind === "none" && certificate !== null) return `knows no user for the client certificate (${certificate})`;
  if (login.kind === "none")
    return "asks for credentials, and none are set: NATS_USER with NATS_PASSWORD, NATS_TOKEN, NATS_NKEY_SEED or NATS_CREDS_FILE";
  if (login.kind === "user") return `refuses user "${login.user}" or the password${inBrackets(login)}`;
  return `refuses the ${{ token: "token", nkey: "NKey", creds: "credentials" }[login.kind]}${inBrackets(login)}`;
}

function inBrackets(login: Login): string {
  if (login.kind === "none") return "";
  if (login.kind !== "user") return ` (${login.secret.from})`;
  return ` (${[...new Set([login.userFrom, login.password.from])].join(", ")})`;
}

function unknownAuthority({ tls }: AccessPlan): string {
  const ca = tls?.ca ?? null;
  return ca === null
    ? "has a certificate of an authority that Node does not know: set NATS_CA_FILE"
    : `has a certificate that is not of the authority in ${ca.from}${damagedIn(ca.value)}`;
}

/** Finds the damaged certificate: OpenSSL uses those before it, and does not report the others. */
function damagedIn(path: string): string {
  try {
    const certificates = readFileSync(path, "utf8").match(/-----BEGIN CERTIFICATE-----.*?(?=-----BEGIN|$)/gs) ?? [];
    const at = certificates.findIndex((text) => !isCertificate(text));
    return at === -1 ? "" : `: certificate ${at + 1} of the file is damaged, so it and those after it do not count`;
  } catch {
    return "";
  }
}

function isCertificate(text: string): boolean {
  try {
    new X509Certificate(text);
    return true;
  } catch {
    return false;
  }
}

function certificateRefused({ tls }: AccessPlan): string {
  const certificate = tls?.certificate ?? null;
  const withTls = tls === null ? ", with tls:// in NATS_URL" : "";
  if (certificate === null) return `asks for a client certificate, and none is set: NATS_CERT_FILE and NATS_KEY_FILE${withTls}`;
  const expired = expiredAt(certificate.value);
  return `refuses the client certificate (${certificate.from})${expired === null ? "" : `, which expired on ${expired}`}`;
}

function expiredAt(path: string): string | null {
  try {
    const { validToDate } = new X509Certificate(readFileSync(path));
    return validToDate.getTime() < Date.now() ? validToDate.toISOString() : null;
  } catch {
    return null;
  }
}

function until(error: Error): string {
  const { cert } = error as { cert?: { valid_to?: string } };
  return cert?.valid_to === undefined ? "" : ` (on ${cert.valid_to})`;
}
