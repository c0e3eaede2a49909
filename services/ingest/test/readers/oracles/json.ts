/** A whole JSON document by `JSON.parse`, and what that keeps quiet about: members that stand twice. */

export type Members = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
export const isWhole = (value: unknown, max = 0xffff_ffff): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;

/** The document; undefined where it is no JSON. A byte order mark before it is passed over. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** JSON pointers, without escapes, of members that stand twice in a document that is JSON. */
export function doubled(bytes: Uint8Array): string[] {
  const text = new TextDecoder().decode(bytes);
  const found: string[] = [];
  const levels: { pointer: string; names: Set<string> | null; index: number; name: string }[] = [];
  let isName = false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    const level = levels.at(-1);
    const at = level === undefined ? "" : `${level.pointer}/${level.names === null ? level.index : level.name}`;
    if (token === "{" || token === "[") {
      levels.push({ pointer: at, names: token === "{" ? new Set() : null, index: 0, name: "" });
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      levels.pop();
      isName = false;
    } else if (token === "," && level !== undefined) {
      level.index++;
      isName = level.names !== null;
    } else if (isName && level !== undefined && token.startsWith('"')) {
      level.name = JSON.parse(token) as string;
      if (level.names?.has(level.name)) found.push(`${level.pointer}/${level.name}`);
      level.names?.add(level.name);
      isName = false;
    }
  }
  return found;
}

/** Whether a member inside of the value at `pointer` stands twice; members with other names than these, and all inside of them, are not read. */
export function isTorn(twice: readonly string[], pointer: string, names: readonly string[]): boolean {
  const isRead = (name: string) => names.includes(name) || /^\d+$/.test(name);
  return twice.some(
    (one) =>
      one.startsWith(`${pointer}/`) &&
      one
        .slice(pointer.length + 1)
        .split("/")
        .every(isRead),
  );
}
