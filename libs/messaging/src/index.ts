/** @netfacts/messaging: requests and replies between services, and broadcasts, behind one interface. */

export { frameItemsMax } from "./bounds.ts";
export { createInProcessMessaging } from "./in-process.ts";
export { MessagingError, type MessagingErrorCode } from "./messaging-error.ts";
export type { DropReason, MessagingEvents, MessagingOptions, RetryReason } from "./options.ts";
export { type ProblemReplyInput, problemReply } from "./problem-reply.ts";
export { createResponder, type Entry, type ItemHandler, type ResponderOptions } from "./responder.ts";
export { seldom } from "./seldom.ts";
export { type Reserve, type Share, Shares } from "./shares.ts";
export type { ClientSpan, ServerSpan, SpanEnd, Tracing } from "./tracing.ts";
export type { Answer, Frame, FrameHandler, Lane, Messaging, ReplyItem, RequestItem, Subscription } from "./types.ts";
export { withWholeBody } from "./whole-body.ts";
