/** Follows the aliases of an answer from a question to its records (RFC 2317 delegates reverse zones by CNAME). */

/** Record types of questions. */
export type RecordType = "PTR" | "A" | "AAAA";

/** The needed fields of a record in the answer section. */
export interface ChainRecord {
  readonly type: RecordType | "CNAME";
  /** Folded (`foldName`). */
  readonly owner: string;
  readonly ttl: number;
  /** PTR, CNAME: a name as received, escaped as in RFC 1035 §5.1, without a dot at the end. A, AAAA: an address in RFC 5952 form. */
  readonly target: string;
}

/** Target of one record at the end of a chain. */
export interface ChainTarget {
  readonly target: string;
  readonly ttl: number;
}

export interface Chain {
  /** Name at the end of the aliases: the question's own name if there are none. */
  readonly end: string;
  /** Number of aliases followed. */
  readonly aliases: number;
  /** Smallest TTL of the aliases; infinite if there are none. */
  readonly ttl: number;
  /** Records of the requested type at the end, ascending, without duplicates. */
  readonly targets: readonly ChainTarget[];
  /** The aliases form a loop, or there are more than `aliasesMax`. */
  readonly broken: boolean;
}

/** The form of names for comparison: case is ignored, but only in ASCII (RFC 4343). The text of a name is all ASCII. */
export function foldName(text: string): string {
  return text.toLowerCase();
}

export interface ChainQuestion {
  readonly name: string;
  readonly type: RecordType;
}

/** Ignores records of other names and types. */
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
    // This also ends a loop of aliases.
    if (aliases === aliasesMax) return { end, aliases, ttl, targets: [], broken: true };
    aliases += 1;
    ttl = Math.min(ttl, alias.ttl);
    end = alias.target;
  }
}

/** Sorts the targets: nameservers rotate records. Of names that differ only in case, keeps the first, with the smallest TTL. */
function sortedTargets(records: readonly ChainRecord[]): ChainTarget[] {
  // Nearly every answer has one record.
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
