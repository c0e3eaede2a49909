/** The one error of requests: no reply arrived, and why. */

/**
 * - `no_responders`: nobody serves the service now
 * - `timeout`: the budget ran out
 * - `overloaded`: too many items wait already; nothing was sent
 * - `handler_failed`: the responder failed as a whole; `cause` is for logs only
 * - `closed`: this end is closing
 */
export type MessagingErrorCode = "no_responders" | "timeout" | "overloaded" | "handler_failed" | "closed";

export class MessagingError extends Error {
  override readonly name = "MessagingError";
  readonly code: MessagingErrorCode;

  constructor(code: MessagingErrorCode, service: string, options?: ErrorOptions) {
    super(`request to ${service}: ${code}`, options);
    this.code = code;
  }
}
