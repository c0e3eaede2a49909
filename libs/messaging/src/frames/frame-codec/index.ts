/** Frames of both versions, byte for byte: the requests on `nf.f1.>` and `nf.f2.>`, and their replies. */

export { FrameSyntaxError, type FrameVersion, headerBytes } from "./layout.ts";
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
