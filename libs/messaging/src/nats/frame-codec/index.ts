/** Frames of version 1, byte for byte: what travels on `nf.f1.>` and back. */

export { FrameSyntaxError, frameVersion, headerBytes } from "./layout.ts";
export {
  decodeReplyFrame,
  encodeFailedFrame,
  encodeReplyFrame,
  type FailedFrame,
  type ReplyFrame,
  ReplyFrameWriter,
  type ReplyPart,
  replyPartBytes,
} from "./reply-frame.ts";
export { decodeRequestFrame, encodeRequestFrame, type OutgoingItem, type RequestFrame, requestItemBytes } from "./request-frame.ts";
