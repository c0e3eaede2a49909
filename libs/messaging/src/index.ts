/** @netfacts/messaging: request and reply between services, and broadcast, behind one interface. */

export { createInProcessMessaging, frameItemsMax, type InProcessOptions, queuedItemsMax } from "./in-process.ts";
export { MessagingError, type MessagingErrorCode } from "./messaging-error.ts";
export { type ProblemReplyInput, problemReply } from "./problem-reply.ts";
export { createResponder, type ItemHandler, type ResponderOptions } from "./responder.ts";
export type { ClientSpan, ServerSpan, SpanEnd, Tracing } from "./tracing.ts";
export type { Frame, FrameHandler, Lane, Messaging, ReplyItem, RequestItem, Subscription } from "./types.ts";
