/** The way from a question to its records through the aliases of an answer (RFC 2317 delegates reverse zones by CNAME). */

/** Records that a question may ask for here. */
export type RecordType = "PTR" | "A" | "AAAA";

/** A record of the answer section, as far as it matters here. */
export interface ChainRecord {
  readonly type: RecordType | "CNAME";
  /** Folded (`foldName`). */
  readonly owner: string;
  readonly ttl: number;
  /** A name as received, escaped as in RFC 1035 §5.1, without the dot at its end; of A and AAAA an address in RFC 5952 form. */
  readonly target: string;
}

/** Of one record at the end of a chain. */
export interface ChainTarget {
  readonly target: string;
  readonly ttl: number;
}

export interface Chain {
  /** Where the aliases lead: the question's own name when there is none. */
  readonly end: string;
  /** Aliases on the way. */
  readonly aliases: number;
  /** The smallest TTL of the aliases; infinite when there is none. */
  readonly ttl: number;
  /** Records of the wanted type at the end, ascending and each once. */
  readonly targets: readonly ChainTarget[];
  /** The aliases lead in a circle, or there are more than `aliasesMax`. */
  readonly broken: boolean;
}

/** The form in which names are compared: case does not matter in ASCII, and only there (RFC 4343). The text of a name is all ASCII. */
export function foldName(text: string): string {
  return text.toLowerCase();
}

export interface ChainQuestion {
  readonly name: string;
  readonly type: RecordType;
}

/** Records of other names and other types are passed over. */
export function followChain(question: ChainQuestion, records: readonly ChainRecord[], aliasesMax: number): Chain {
  let end = question.name;
  let ttl = Number.POSITIVE_INFINITY;
  let aliases = 0;
  for (;;) {
    const owner = foldName(end);
    const wanted = records.filter((record) => record.type === question.type && record.owner === owner);
    if (wanted.length > 0) return { end, aliases, ttl, targets: sortedTargets(wanted), broken: false };
    const alias = records.find((record) => record.type === "CNAME" && record.owner === owner);
    if (alias === undefined) return { end, aliases, ttl, targets: [], broken: false };
    // A circle ends here too: it never runs out of aliases.
    if (aliases === aliasesMax) return { end, aliases, ttl, targets: [], broken: true };
    aliases += 1;
    ttl = Math.min(ttl, alias.ttl);
    end = alias.target;
  }
}

/** Answers rotate their records; ours come in one order. Of names that differ in case only, the first in that order stays, with the smaller TTL. */
function sortedTargets(records: readonly ChainRecord[]): ChainTarget[] {
  // As nearly always.
  const [only] = records;
  if (only !== undefined && records.length === 1) return [{ target: only.target, ttl: only.ttl }];
  const byFolded = new Map<string, ChainTarget>();
  for (const { target, ttl } of records) {
    const folded = foldName(target);
    const known = byFolded.get(folded);
    const first = known === undefined || target < known.target ? target : known.target;
    byFolded.set(folded, { target: first, ttl: Math.min(ttl, known?.ttl ?? ttl) });
  }
  return [...byFolded].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, target]) => target);
}
