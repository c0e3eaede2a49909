/** The text of a `.md5` file, which is published beside a file or stored there. */

/**
 * The digest in lower case: 32 hexadecimal digits anywhere, because some write `MD5 (file) = digest` and others `digest  file`. Null: there is none.
 * A page or a JSON document has none: its digits are those of a request or of a script.
 */
export function md5In(text: string): string | null {
  if (/^\s*[<{]/.test(text)) return null;
  return /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/i.exec(text)?.[0].toLowerCase() ?? null;
}
