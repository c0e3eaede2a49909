/** The one error of reading DNS messages. */

/** The message is not what RFC 1035 has a message be; whoever catches it counts it and drops the message. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
  /** Byte offset of the fault in the message. */
  readonly offset: number;

  constructor(fault: string, offset: number) {
    super(`${fault} at byte ${offset}`);
    this.offset = offset;
  }
}
