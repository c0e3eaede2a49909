/** The one error of requests: no reply arrived, and why. */

/**
 * - `no_responders`: nobody serves the service now
 * - `timeout`: the budget ran out
 * - `overloaded`: too many items wait already; nothing was sent
 * - `handler_failed`: the responder failed as a whole, or its answer broke midway; `cause` is for logs only
 * - `not_connected`: there is no connection; nothing was sent since it broke
 * - `invalid_item`: the item cannot travel, which is a fault of the caller; `cause` says why
 * - `closed`: this end is closing
 */
export type MessagingErrorCode =
  | "no_responders"
  | "timeout"
  | "overloaded"
  | "handler_failed"
  | "not_connected"
  | "invalid_item"
  | "closed";

export class MessagingError extends Error {
  override readonly name = "MessagingError";
  readonly code: MessagingErrorCode;

  constructor(code: MessagingErrorCode, service: string, options?: ErrorOptions) {
    super(`request to ${service}: ${code}`, options);
    this.code = code;
  }
}
