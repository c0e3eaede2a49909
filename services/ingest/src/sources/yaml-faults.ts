/** Describes syntax faults of a YAML file in plain words; the library's messages are for programmers. */

import { type Document, type ErrorCode, visit, type YAMLError } from "yaml";

const words: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: "an alias (*) without its anchor (&)",
  BAD_DQ_ESCAPE: "an invalid escape sequence in double quotes",
  BAD_INDENT: "the indentation is wrong, or a bracket is not closed",
  BAD_SCALAR_START: "a value begins with a reserved character; put it in quotes",
  DUPLICATE_KEY: "a key appears twice in one mapping",
  MISSING_CHAR: "a quote, bracket, colon or comma is missing",
  MULTIPLE_DOCS: "a second document begins (---)",
  RESOURCE_EXHAUSTION: "nested too deeply",
  TAB_AS_INDENT: "indented by tabs; use spaces",
  TAG_RESOLVE_FAILED: "an unknown tag (!)",
  UNEXPECTED_TOKEN: "something is in the wrong place",
};

/** The faults, keyed by place and reason, so that each appears once. */
export function yamlFaults(errors: readonly YAMLError[]): { readonly offset: number; readonly message: string }[] {
  const faults = new Map<string, { offset: number; message: string }>();
  const deep = errors.find(({ code }) => code === "RESOURCE_EXHAUSTION");
  for (const { code, pos } of deep === undefined ? errors : [deep]) {
    const message = `not YAML: ${words[code] ?? "the syntax is invalid"}`;
    faults.set(`${pos[0]} ${code}`, { offset: pos[0], message });
  }
  return [...faults.values()];
}

/** Offsets of aliases without an anchor before them: the library reads them as nothing. */
export function unknownAliases(document: Document): number[] {
  const anchors = new Set<string>();
  const offsets: number[] = [];
  visit(document, {
    Node: (_key, node) => {
      if ("anchor" in node && node.anchor !== undefined) anchors.add(node.anchor);
    },
    Alias: (_key, { source, range }) => {
      if (!anchors.has(source)) offsets.push(range?.[0] ?? 0);
    },
  });
  return offsets;
}
