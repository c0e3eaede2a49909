/** Lines of a response as they arrive, in Node and in browsers. */

/** @param onPiece  called for each piece of the body, before its lines. */
export async function* readLines(response: Response, onPiece: () => void): AsyncGenerator<string, void, undefined> {
  if (response.body === null) return;
  // Not every browser iterates over a stream by itself.
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      onPiece();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") yield line;
      if (done) break;
    }
    if (rest !== "") yield rest;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
