/** Every refusal as problem+json: errors of routes, errors of the framework, and bytes that are not a request. */

import type { Socket } from "node:net";
import { parseAddress } from "@netfacts/address";
import { errors, type ProblemCode, ProblemError, problemBody, problemHeaders } from "@netfacts/contracts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ClientGoneError } from "../proxy/request-body.ts";
import { refuseAfterAnswers } from "./connections.ts";
import { echoPath } from "./echo.ts";
import { malformedDetail } from "./malformed.ts";
import { type RequestLog, refusalSampler } from "./observe.ts";
import { problemText } from "./problem-text.ts";
import { newRequestId } from "./request-id.ts";

export interface ProblemOptions {
  /** The beginning of `type`. */
  readonly errorDocsBase: string;
  /** Headers of every answer. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
  readonly log: RequestLog;
  readonly clock: { now(): number };
}

/** Answers with the problem of a thrown error. Only the log gets the details of an error that is not a `ProblemError`. */
export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { errorDocsBase, log }: ProblemOptions,
): FastifyReply {
  const problem = error instanceof ProblemError ? error : (bodyProblem(error) ?? new ProblemError("internal_error", { cause: error }));
  // The gateway did not fail, and no client is left to read the answer.
  if (isBrokenOff(problem.cause, request)) log.info({ request_id: request.id }, "the client went away before the end of its body");
  else if (problem.cause !== undefined) log.error({ request_id: request.id, code: problem.code, err: problem.cause }, "request failed");
  request.problemCode = problem.code;
  const place = { instance: echoPath(request.url), requestId: request.id, errorDocsBase };
  // An unread body would hold up the next request of the connection.
  if (holdsBody(request)) reply.header("connection", "close");
  return reply
    .code(errors[problem.code].status)
    .headers(problemHeaders(problem, place))
    .send(JSON.stringify(problemBody(problem, place)));
}

/** Whether a request failed only because its client went away. */
function isBrokenOff(cause: unknown, { raw }: FastifyRequest): boolean {
  if (raw.complete || !raw.destroyed) return false;
  const { code, cause: first } = (cause ?? {}) as { readonly code?: string; readonly cause?: unknown };
  return code === "ECONNRESET" || cause instanceof ClientGoneError || first instanceof ClientGoneError;
}

export function installProblems(app: FastifyInstance, options: ProblemOptions): void {
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, options));
}

/** The problem of a body that the framework refuses before a route reads it; null for any other error. */
function bodyProblem(error: unknown): ProblemError | null {
  switch ((error as { readonly code?: unknown } | null)?.code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new ProblemError("unsupported_media_type", { detail: "`Content-Type` is not one media type, such as `application/json`." });
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ProblemError("payload_too_large");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ProblemError("bad_request", { detail: "The length of the body does not match its Content-Length." });
    default:
      return null;
  }
}

/** The address in front of a zone id, such as `fe80::1%eth0`, in a path. */
const zoned = /^[^?]*\/([0-9a-f:]{2,39})%/i;

/** The problem of a request that the router refuses before any hook runs. */
export function frameworkProblem(error: { readonly code: string }, url: string): ProblemError {
  if (error.code === "FST_ERR_BAD_URL") {
    const address = zoned.exec(url)?.[1] ?? "";
    const isZoned = parseAddress(address) !== null;
    const advice = isZoned ? ` Send ${address} without a zone id, which is only meaningful on one machine.` : "";
    return new ProblemError("bad_request", { detail: `The percent-encoding of the path is not valid.${advice}` });
  }
  if (error.code === "FST_ERR_MAX_PARAM_LENGTH") return new ProblemError("uri_too_long");
  return new ProblemError("internal_error", { cause: error });
}

/** Code of the error for a request with the method CONNECT, which has no path to route. */
export const connectCode = "CONNECT";

/** Time to read the refusal for a client that does not close its side. */
const lingerMs = 1_000;

/** Makes a function that at once writes the refusal of bytes that are not a request, by their error code (RFC 9112), and ends the connection. */
export function refusalWriter({ errorDocsBase, fixedHeaders, log, clock }: ProblemOptions) {
  const isSampled = refusalSampler(log);
  return (cause: string | undefined, socket: Socket): void => {
    const code = codeOfClientError(cause);
    const now = clock.now();
    const requestId = newRequestId(now);
    // The path is unknown: it may be the part that could not be read.
    const place = { instance: "/", requestId, errorDocsBase };
    const detail = cause === connectCode ? "CONNECT is not supported." : malformedDetail(cause);
    const problem = new ProblemError(code, detail === null ? {} : { detail });
    // Destroying a socket with unread bytes resets the connection, and the client could lose the last answers.
    socket.once("finish", () => {
      const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
      socket.once("close", () => clearTimeout(timer));
    });
    socket.end(problemText(problem, place, { fixedHeaders, now }));
    const { status } = errors[code];
    if (isSampled()) log.info({ request_id: requestId, status, code, client: socket.remoteAddress, cause }, "malformed HTTP request");
  };
}

/** Makes a handler that refuses an unreadable request after the pending answers of its connection, and closes the connection. */
export function clientErrorHandler(options: ProblemOptions) {
  const refuse = refusalWriter(options);
  return ({ code }: Error & { readonly code?: string }, socket: Socket): void => {
    // The last answer is being sent, and the connection ends with it.
    if (socket.writableEnded && !socket.destroyed && code !== "ECONNRESET") return;
    if (code === "ECONNRESET" || !socket.writable) socket.destroy();
    else
      refuseAfterAnswers(socket, () => {
        if (socket.writable) refuse(code, socket);
      });
  };
}

function codeOfClientError(code: string | undefined): ProblemCode {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  if (code === "HPE_HEADER_OVERFLOW") return "headers_too_large";
  return "bad_request";
}

/** Whether the request announces a body (RFC 9112 §6.3). */
export function holdsBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}
