/** The one error of reading DNS messages. */

/** The message violates RFC 1035. The code that catches this drops and counts the message. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
  /** Byte offset of the fault in the message. */
  readonly offset: number;

  constructor(fault: string, offset: number) {
    super(`${fault} at byte ${offset}`);
    this.offset = offset;
  }
}
