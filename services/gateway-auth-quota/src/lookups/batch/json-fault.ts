/** Where a text stops being JSON (RFC 8259): what the engine's own messages tell only sometimes, and not in a stable form. */

export interface JsonFault {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  readonly message: string;
}

/** Deeper nesting is not followed. */
const depthMax = 64;

const blank = /[ \t\n\r]*/y;
const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y;
// Unicode mode is left out on purpose: a lone surrogate is no fault here.
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a string may not hold
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** The first fault of a text, from `start` on, where its value begins; null where it has none. Cost: one pass up to the fault. */
export function jsonFault(text: string, start = 0): JsonFault | null {
  let at = start;
  /** What closes each open container. */
  const open: ("]" | "}")[] = [];
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const fault = (message: string): JsonFault => placeIn(text, at, message);

  for (let needs: "value" | "name" | "end" = "value"; ; ) {
    skip(blank);
    const char = text[at];
    if (needs === "name") {
      if (!skip(string)) return fault("expected a name in double quotes");
      skip(blank);
      if (text[at] !== ":") return fault("expected a colon");
      at += 1;
      needs = "value";
    } else if (needs === "value") {
      if (char === "{" || char === "[") {
        if (open.length === depthMax) return fault("nesting is too deep");
        const close = char === "{" ? "}" : "]";
        at += 1;
        skip(blank);
        if (text[at] === close) {
          at += 1;
          needs = "end";
        } else {
          open.push(close);
          needs = close === "}" ? "name" : "value";
        }
      } else if (skip(string) || skip(literal)) needs = "end";
      else return fault("expected a value");
    } else {
      const close = open.at(-1);
      if (close === undefined) return at < text.length ? fault("expected the end of the text") : null;
      if (char === close) open.pop();
      else if (char === ",") needs = close === "}" ? "name" : "value";
      else return fault(`expected a comma or ${close}`);
      at += 1;
    }
  }
}

/** A fault that is found at this place of a text. */
export function placeIn(text: string, at: number, message: string): JsonFault {
  let line = 1;
  let lineStart = 0;
  // A search for each line end would take ten times as long in a text of nothing else.
  for (let before = 0; before < at; before++) {
    if (text.charCodeAt(before) !== 0x0a) continue;
    line += 1;
    lineStart = before + 1;
  }
  return { line, column: at - lineStart + 1, message: at >= text.length ? "unexpected end of text" : message };
}
