/**
 * One GET that follows redirects, and checks each connection.
 *
 * It uses Node's `http` and `https`, not `fetch`: `fetch` hides the address that it connected to, decompresses content encodings before we have
 * counted a byte, and follows redirects by its own rules. Here we make, check and close the connection of each hop.
 */

import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import { shownUrl } from "../sources/index.ts";
import { checkAddress, guardedLookup, type Refusal, type Resolve } from "./address-guard.ts";
import { bodyOf } from "./body-queue.ts";
import { connectionError, FetchError } from "./fetch-error.ts";

/** Mirrors redirect once or twice; more redirects are a loop. */
const redirectsMax = 5;

/** The target of a request, and its bounds. */
export interface GetTarget {
  readonly url: string;
  /** Value of the header Authorization, for the origin of the URL only; null: the credentials in the URL, if there are any. */
  readonly authorization: string | null;
  readonly refuse: Refusal;
  readonly allowDowngrade: boolean;
  /** Has the trusted authorities; undefined: those of Node. */
  readonly secureContext: SecureContext | undefined;
  readonly resolve: Resolve;
  /** Longest time without data from the server. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
}

export interface GetOptions extends GetTarget {
  readonly headers: Readonly<Record<string, string>>;
}

export interface GetAnswer {
  readonly response: IncomingMessage;
  readonly body: AsyncIterable<Buffer>;
  /** The URL after redirects. */
  readonly url: string;
  /** Never resolves; rejects when the connection fails at any time. */
  readonly failure: Promise<never>;
}

/** Resolves with the headers of the first response that is not a redirect. The caller reads `body` or destroys `response`. @throws FetchError */
export async function httpGet(options: GetOptions): Promise<GetAnswer> {
  let url = parse(options.url, options.url);
  const home = url.origin;
  for (let hop = 0; ; hop++) {
    const answer = await getOnce(url, url.origin === home, options);
    const { statusCode = 0, headers } = answer.response;
    if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return answer;
    answer.response.destroy();
    if (hop === redirectsMax) throw new FetchError("forbidden", `${shownUrl(options.url)}: more than ${redirectsMax} redirects`);
    const next = parse(encodedBytes(headers.location), url.href);
    if (url.protocol === "https:" && next.protocol === "http:" && !options.allowDowngrade)
      throw new FetchError(
        "forbidden",
        `${shownUrl(url.href)} redirects to ${shownUrl(next.href)}, which is not encrypted; set allow_downgrade: true to allow it`,
      );
    url = next;
  }
}

/** Node gives each byte of a header as one letter: those that are not ASCII are part of a letter, mostly in UTF-8. */
function encodedBytes(header: string): string {
  return header.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

function parse(text: string, base: string): URL {
  const url = URL.parse(text, base);
  if (url === null) throw new FetchError("forbidden", `${shownUrl(base)} redirects to ${shownUrl(text)}, which is not a URL`);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new FetchError("forbidden", `${shownUrl(base)} redirects to ${shownUrl(url.href)}; only http and https are supported`);
  return url;
}

function getOnce(url: URL, isHome: boolean, options: GetOptions): Promise<GetAnswer> {
  const { signal, stallMs } = options;
  const where = shownUrl(url.href);
  const authorization = isHome ? (options.authorization ?? basicOf(url)) : null;
  const send: RequestOptions = {
    method: "GET",
    host: hostOf(url),
    port: portOf(url),
    path: url.pathname + url.search,
    headers: { host: url.host, ...options.headers, ...(authorization !== null && { authorization }) },
    createConnection: () => openConnection(url, options),
    signal,
  };
  return new Promise((resolve, reject) => {
    let request: ClientRequest;
    let fail: (error: Error) => void = () => undefined;
    const failure = new Promise<never>((_, rejectFailure) => {
      fail = rejectFailure;
    });
    failure.catch(() => undefined);
    const failed = (error: Error) => {
      clearTimeout(timer);
      const told = signal.aborted ? abortError(signal) : connectionError(error, where);
      fail(told);
      reject(told);
    };
    const timer = setTimeout(
      () => request.destroy(new FetchError("away", `${where}: the server did not respond within ${stallMs / 1_000} s`)),
      stallMs,
    );
    try {
      checkLiteral(url, options);
      request = (url.protocol === "https:" ? requestHttps : requestHttp)(send);
    } catch (error) {
      failed(error as Error);
      return;
    }
    request.on("error", failed);
    request.once("response", (response) => {
      clearTimeout(timer);
      resolve({ response, body: bodyOf(response), url: url.href, failure });
    });
    request.end();
  });
}

/** The error of an aborted fetch: the signal's reason if it is an error. */
export function abortError({ reason }: AbortSignal): Error {
  return Error.isError(reason) ? reason : new FetchError("away", "stopped");
}

/** Checks a literal address here, because it is never looked up. */
function checkLiteral(url: URL, { refuse }: GetOptions): void {
  const host = hostOf(url);
  if (isIP(host) !== 0) checkAddress(host, host, refuse);
}

function openConnection(url: URL, { resolve, refuse, secureContext }: GetOptions): Socket {
  const host = hostOf(url);
  const to = { host, port: portOf(url), lookup: guardedLookup(resolve, refuse) };
  const socket =
    url.protocol === "http:"
      ? connect(to)
      : connectTls({
          ...to,
          ALPNProtocols: ["http/1.1"],
          ...(isIP(host) === 0 && { servername: host }),
          ...(secureContext && { secureContext }),
        });
  // The last check: the address of the other end, before a byte of the request is written.
  socket.prependOnceListener("connect", () => {
    try {
      checkAddress(host, socket.remoteAddress ?? "", refuse);
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
  return socket;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

function basicOf({ username, password }: URL): string | null {
  if (username === "" && password === "") return null;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`;
}

/** Text that is not percent-encoded correctly stays as it is (RFC 3986 §2.1): URLs may contain it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
