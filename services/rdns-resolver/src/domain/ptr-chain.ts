/** The way from a question to its PTR records through the aliases of an answer (RFC 2317 delegates reverse zones by CNAME). */

/** A record of the answer section, as far as it matters here; `owner` is folded. */
export interface ChainRecord {
  readonly type: "PTR" | "CNAME";
  readonly owner: string;
  readonly ttl: number;
  readonly target: string;
}

export interface PtrName {
  /** As received, escaped as in RFC 1035 §5.1, without the dot at its end. */
  readonly name: string;
  readonly ttl: number;
}

export interface Chain {
  /** Where the aliases lead: the question's own name when there is none. */
  readonly end: string;
  /** Aliases on the way. */
  readonly aliases: number;
  /** The smallest TTL of the aliases; infinite when there is none. */
  readonly ttl: number;
  /** PTR records at the end, ascending and each once. */
  readonly names: readonly PtrName[];
  /** The aliases lead in a circle, or there are more than `aliasesMax`. */
  readonly broken: boolean;
}

/** The form in which names are compared: case does not matter in ASCII, and only there (RFC 4343). The text of a name is all ASCII. */
export function foldName(text: string): string {
  return text.toLowerCase();
}

/** Records of other names are passed over. */
export function followChain(question: string, records: readonly ChainRecord[], aliasesMax: number): Chain {
  let end = question;
  let ttl = Number.POSITIVE_INFINITY;
  let aliases = 0;
  for (;;) {
    const owner = foldName(end);
    const names = records.filter((record) => record.type === "PTR" && record.owner === owner);
    if (names.length > 0) return { end, aliases, ttl, names: sortedNames(names), broken: false };
    const alias = records.find((record) => record.type === "CNAME" && record.owner === owner);
    if (alias === undefined) return { end, aliases, ttl, names: [], broken: false };
    // A circle ends here too: it never runs out of aliases.
    if (aliases === aliasesMax) return { end, aliases, ttl, names: [], broken: true };
    aliases += 1;
    ttl = Math.min(ttl, alias.ttl);
    end = alias.target;
  }
}

/** Answers rotate their records; ours come in one order. Of names that differ in case only, the first in that order stays, with the smaller TTL. */
function sortedNames(records: readonly ChainRecord[]): PtrName[] {
  // As nearly always.
  const [only] = records;
  if (only !== undefined && records.length === 1) return [{ name: only.target, ttl: only.ttl }];
  const byFolded = new Map<string, PtrName>();
  for (const { target, ttl } of records) {
    const folded = foldName(target);
    const known = byFolded.get(folded);
    const name = known === undefined || target < known.name ? target : known.name;
    byFolded.set(folded, { name, ttl: Math.min(ttl, known?.ttl ?? ttl) });
  }
  return [...byFolded].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
}
