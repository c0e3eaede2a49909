/** Reads a small JSON document as a tree in which every value knows its place: for files that people write, and that must be correct throughout. */

import { boundedContent } from "./bounded-content.ts";
import { type JsonSink, JsonSyntaxError, JsonTokenizer } from "./json-tokens.ts";
import { type SourceContent, SourceError } from "./reader-report.ts";

/** A value with the offset of its first byte. */
export type JsonNode = { readonly offset: number } & (
  | { readonly kind: "object"; readonly members: readonly JsonMember[] }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  | { readonly kind: "scalar"; readonly value: string | number | boolean | null }
);

/** A member as written; a name may appear twice. */
export interface JsonMember {
  readonly name: string;
  readonly offset: number;
  readonly node: JsonNode;
}

/** Most values in one document; each takes about 100 bytes of memory. */
const treeValuesMax = 1_000_000;

/** Reads one document. @throws SourceError with the byte if it is not JSON, or has more than `treeValuesMax` values */
export async function readJsonTree(content: SourceContent): Promise<{ root: JsonNode; bytes: number; seconds: number }> {
  const { chunks, meter } = boundedContent(content);
  const builder = new TreeBuilder();
  const tokens = new JsonTokenizer(builder);
  try {
    for await (const chunk of chunks) tokens.feed(chunk);
    tokens.finish();
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new SourceError(content.file, { offset: error.offset }, error.message, { cause: error });
    throw error;
  }
  return { root: builder.root, bytes: meter.bytes, seconds: meter.seconds() };
}

type OpenNode =
  | { readonly kind: "object"; readonly offset: number; readonly members: JsonMember[] }
  | { readonly kind: "array"; readonly offset: number; readonly items: JsonNode[] };

class TreeBuilder implements JsonSink {
  #root: JsonNode | null = null;
  readonly #open: OpenNode[] = [];
  readonly #names: { name: string; offset: number }[] = [];
  #values = 0;

  /** The document; valid after its last token was taken. */
  get root(): JsonNode {
    return this.#root as JsonNode;
  }

  beginObject(offset: number): void {
    this.#open.push({ kind: "object", offset, members: [] });
  }

  endObject(_offset: number): void {
    this.#place(this.#open.pop() as JsonNode);
  }

  beginArray(offset: number): void {
    this.#open.push({ kind: "array", offset, items: [] });
  }

  endArray(_offset: number): void {
    this.#place(this.#open.pop() as JsonNode);
  }

  key(bytes: Uint8Array, start: number, end: number, _plain: boolean, offset: number): void {
    this.#names.push({ name: text(bytes, start, end), offset });
  }

  string(bytes: Uint8Array, start: number, end: number, _plain: boolean, offset: number): void {
    this.#place({ kind: "scalar", value: text(bytes, start, end), offset });
  }

  number(bytes: Uint8Array, start: number, end: number, offset: number): void {
    this.#place({ kind: "scalar", value: Number(Buffer.from(bytes.subarray(start, end)).toString("latin1")), offset });
  }

  literal(value: true | false | null, offset: number): void {
    this.#place({ kind: "scalar", value, offset });
  }

  #place(node: JsonNode): void {
    if (++this.#values > treeValuesMax) throw new JsonSyntaxError(node.offset, `more than ${treeValuesMax} values`);
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#root = node;
    else if (parent.kind === "array") parent.items.push(node);
    else parent.members.push({ ...(this.#names.pop() as { name: string; offset: number }), node });
  }
}

function text(bytes: Uint8Array, start: number, end: number): string {
  return JSON.parse(`"${Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8")}"`) as string;
}
