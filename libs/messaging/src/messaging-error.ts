/** The only error of requests: no reply arrived, for the reason in `code`. */

/**
 * - `no_responders`: nobody serves the service now
 * - `timeout`: the budget is used up
 * - `overloaded`: too many items are waiting; this one was not sent
 * - `handler_failed`: the responder failed as a whole, or its answer broke off; `cause` is for logs only
 * - `not_connected`: there is no connection; nothing was sent since it was lost
 * - `invalid_item`: the item cannot be encoded, which is a fault of the caller; `cause` has the reason
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
