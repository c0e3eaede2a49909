/** Reads the members of a YAML mapping, each by its key. Faults are noted with their place; nothing is thrown. */

import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type YAMLMap } from "yaml";
import type { SourcesFault } from "./config.ts";
import { didYouMean } from "./suggestion.ts";

/** The faults found so far; turns offsets into lines and columns. */
export class FaultList {
  readonly faults: SourcesFault[] = [];
  readonly #lines: LineCounter;

  constructor(lines: LineCounter = new LineCounter()) {
    this.#lines = lines;
  }

  at(offset: number, message: string): void {
    const { line, col } = this.#lines.linePos(offset);
    this.faults.push({ line, column: col, message });
  }

  lineOf(offset: number): number {
    return this.#lines.linePos(offset).line;
  }

  /** In the order of the lines. */
  sorted(): SourcesFault[] {
    return this.faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  }
}

interface Member {
  offset: number;
  node: Node | null;
}

export class MappingReader {
  /** Offset at which the mapping begins. */
  readonly offset: number;
  readonly #members = new Map<string, Member>();
  readonly #faults: FaultList;
  readonly #what: string;
  readonly #document: Document;

  /** @param what  name of the mapping in faults: "a source". */
  constructor(document: Document, map: YAMLMap, what: string, known: readonly string[], faults: FaultList) {
    this.#document = document;
    this.#faults = faults;
    this.#what = what;
    this.offset = map.range?.[0] ?? 0;
    for (const { key, value } of map.items) {
      const offset = (key as Node | null)?.range?.[0] ?? this.offset;
      const name = isScalar(key) && typeof key.value === "string" ? key.value : null;
      if (name === null || !known.includes(name)) {
        const hint = name === null ? "" : didYouMean(name, known);
        faults.at(offset, `unknown key ${shown(name ?? key)} in ${what}${hint === "" ? `; expected one of ${known.join(", ")}` : hint}`);
      } else this.#members.set(name, { offset, node: resolved(value as Node | null, document) });
    }
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  /** Offset of the member's value; of its key if it has no value. */
  offsetOf(key: string): number {
    const member = this.#members.get(key);
    return member?.node?.range?.[0] ?? member?.offset ?? this.offset;
  }

  /** The member as `accept` reads it. Null, and a fault is noted, if it is missing or not as expected. */
  need<T>(key: string, expected: string, accept: (value: unknown) => T | null): T | null {
    if (this.#members.has(key)) return this.read(key, expected, accept);
    this.#faults.at(this.offset, `${this.#what} has no "${key}"; expected ${expected}`);
    return null;
  }

  /** As `need`, but without a fault if the member is missing. */
  read<T>(key: string, expected: string, accept: (value: unknown) => T | null): T | null {
    const member = this.#members.get(key);
    if (member === undefined) return null;
    const value = isScalar(member.node) ? member.node.value : member.node;
    const accepted = accept(value);
    if (accepted === null) this.#faults.at(this.offsetOf(key), `${key}: expected ${expected}, found ${shown(value)}`);
    return accepted;
  }

  /** A member that is itself a mapping. Null if it is missing; null, and a fault is noted, if it is anything else. */
  mapping(key: string, known: readonly string[]): MappingReader | null {
    const map = this.read(key, `a mapping with ${known.join(", ")}`, (value) => (isMap(value) ? value : null));
    return map === null ? null : new MappingReader(this.#document, map, `"${key}"`, known, this.#faults);
  }
}

/** The node that an alias stands for. */
export function resolved(node: Node | null, document: Document): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? null) : node;
}

/** A value as faults show it: short, on one line. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "object") return isMap(value) ? "a mapping" : isSeq(value) && value.items.length === 0 ? "an empty list" : "a list";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
