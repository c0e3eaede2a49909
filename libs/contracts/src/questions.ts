/** Questions as values, and their canonical text: one text for each question, used in messages and in ETags. */

import { type Codec, separator } from "./operations/codec.ts";
import { type OperationName, operations, type Questions } from "./operations/index.ts";

/** A query that is not canonical. Only a defect in one of our senders can cause it. */
export class QuestionSyntaxError extends Error {
  override readonly name = "QuestionSyntaxError";
  readonly op: string;
  constructor(op: string) {
    super(`not a canonical query of operation ${op}`);
    this.op = op;
  }
}

const described: { readonly [O in OperationName]: { readonly question: Codec<Questions[O]> } } = operations;

/** The only text of this question: printable ASCII without spaces, at most 100 characters, for a search at most 1,210. */
export function encodeQuestion<O extends OperationName>(op: O, question: Questions[O]): string {
  return described[op].question.encode(question);
}

/**
 * Parses a canonical text. Equal questions have equal texts, and no other text is accepted.
 *
 * @throws QuestionSyntaxError on anything that `encodeQuestion` does not produce.
 */
export function decodeQuestion<O extends OperationName>(op: O, query: string): Questions[O] {
  const codec: Codec<Questions[O]> = described[op].question;
  const question = codec.decode(query.split(separator));
  if (question === null || codec.encode(question) !== query) throw new QuestionSyntaxError(op);
  return question;
}
