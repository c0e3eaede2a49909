/** The members of records as their pages document them, from the schemas, facts and examples in `contracts`. */

import { problemCodes, warningCodes } from "@netfacts/contracts";
import { type Fact, type From, factSources, type RecordPage, recordPages } from "@netfacts/contracts/openapi";

/** The part of a JSON schema that the pages use. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** A member, as its page documents it. */
export interface DocumentedMember {
  /** `routing.origins[].asn`. */
  readonly path: string;
  readonly type: string;
  readonly meaning: string;
  readonly unit: string | null;
  /** Null for an object, whose members have their own sources. */
  readonly source: string | null;
  /** As JSON; null for an object or a list of objects. */
  readonly example: string | null;
  /** Sentence that says where its members are documented; null: they follow, or there are none. */
  readonly elsewhere: string | null;
}

type Facts = Readonly<Record<string, unknown>>;

/** Name and content of every page. */
export const pages: readonly (readonly [string, RecordPage])[] = Object.entries(recordPages);
const shown = exampleValues();

/**
 * The members of a record, depth first, in the order of the record.
 *
 * Throws for a member without description or example, and for a nullable one whose description does not say when it is null.
 */
export function documentedMembers(name: string, page: RecordPage): DocumentedMember[] {
  return [...membersOf(name, "", page.schema as Schema, page.facts as Facts, page.example)];
}

function* membersOf(page: string, prefix: string, schema: Schema, facts: Facts, example: unknown): Generator<DocumentedMember> {
  /** Siblings of the same shape are documented once. */
  const siblings = new Map<unknown, string>();
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const path = `${prefix}${name}`;
    const fail = (what: string): never => {
      throw new Error(`record ${page}, member ${path}: ${what}`);
    };
    const meaning = member.description ?? fail("no description");
    if (isNullable(member) && !/\bnull\b/i.test(meaning)) fail("is nullable, and its description does not say when it is null");
    const value = valueIn(example, name);
    const inside = member.items ?? member;
    const fact = facts[name] ?? fail("no facts");
    const optional = schema.required?.includes(name) === true ? "" : ", optional";
    const common = { path, meaning, type: typeText(member) + optional, unit: null, source: null, example: null, elsewhere: null };
    const link = pageOfLink(fact);
    if (link !== null) {
      yield {
        ...common,
        elsewhere: linkText(link, member.items !== undefined) ?? fail(`its members are on page ${link}, which does not exist`),
      };
    } else if (inside.properties !== undefined) {
      const like = siblings.get(fact);
      siblings.set(fact, like ?? path);
      yield { ...common, elsewhere: like === undefined ? null : `It has the members of \`${like}\`.` };
      if (like === undefined)
        yield* membersOf(page, `${path}${member.items === undefined ? "." : "[]."}`, inside, fact as Facts, firstOf(value));
    } else {
      const { from, unit, example: own } = factOf(fact as From | Fact);
      const ofOne = own ?? anyOf(inside);
      const other = member.items === undefined || ofOne === undefined ? ofOne : [ofOne];
      const known = isTelling(value) ? value : (shown.get(facts)?.get(name) ?? other ?? fail("no example"));
      yield { ...common, unit: unit ?? null, source: sourceText(from), example: JSON.stringify(known) };
    }
  }
}

/** Null: the page does not exist. */
function linkText(link: string, isList: boolean): string | null {
  const members = isList ? "The members of each" : "Its members";
  if (link === "README") return `${members} are on the page of [that record](README.md).`;
  const page: RecordPage | undefined = (recordPages as Readonly<Record<string, RecordPage>>)[link];
  return page === undefined ? null : `${members} are on the page [${page.title}](${fileOf(link)}).`;
}

/** Name of the file of a page. */
export function fileOf(name: string): string {
  return `${name.replaceAll("_", "-")}.md`;
}

/** Example values by the facts of their record and their name: parts of records with the same facts have the same examples. */
function exampleValues(): ReadonlyMap<Facts, ReadonlyMap<string, unknown>> {
  const values = new Map<Facts, Map<string, unknown>>();
  const visit = (schema: Schema, facts: Facts, example: unknown): void => {
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      const value = valueIn(example, name);
      const inside = member.items ?? member;
      if (inside.properties !== undefined) {
        for (const item of Array.isArray(value) ? value : [value]) visit(inside, (facts[name] ?? {}) as Facts, item);
      } else if (isTelling(value)) {
        const known = values.get(facts) ?? new Map<string, unknown>();
        if (!known.has(name)) known.set(name, value);
        values.set(facts, known);
      }
    }
  };
  for (const [, { schema, facts, example }] of pages) visit(schema as Schema, facts as Facts, example);
  return values;
}

function valueIn(example: unknown, name: string): unknown {
  return typeof example === "object" && example !== null ? (example as Record<string, unknown>)[name] : undefined;
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

function isTelling(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/** An example of a schema that allows only a few values. */
function anyOf(schema: Schema): unknown {
  return typesOf(schema).includes("boolean") ? true : schema.enum?.[0];
}

function pageOfLink(fact: unknown): string | null {
  return typeof fact === "object" && fact !== null && "page" in fact && typeof fact.page === "string" ? fact.page : null;
}

function factOf(fact: From | Fact): Fact {
  return typeof fact === "object" && "from" in fact ? fact : { from: fact };
}

function sourceText(from: From): string {
  return (typeof from === "string" ? [from] : from).map((source) => factSources[source]).join(" and ");
}

function typesOf({ type }: Schema): readonly string[] {
  return type === undefined || typeof type === "string" ? [type ?? "object"] : type;
}

function isNullable(schema: Schema): boolean {
  return typesOf(schema).includes("null");
}

function typeText(schema: Schema): string {
  const plain = typesOf(schema).filter((type) => type !== "null");
  const text =
    schema.items === undefined ? plain.map((type) => singleType(type, schema)).join(" or ") : `list of ${itemsText(schema.items)}`;
  return isNullable(schema) ? `${text}, or null` : text;
}

function itemsText(schema: Schema): string {
  if (schema.properties !== undefined) return "objects";
  const text = typeText(schema).replace(", one of", ", each one of");
  return /^(string|integer|number|timestamp|date)\b/.test(text) ? text.replace(/^\w+/, "$&s") : text;
}

function singleType(type: string, schema: Schema): string {
  const values = (schema.enum ?? []).filter((value) => value !== null);
  const [any] = Object.values(schema.patternProperties ?? {});
  if (any !== undefined) return `object with members of any name, each: ${typeText(any)}`;
  if (sameValues(values, problemCodes)) return "string, a [code of a problem](../errors.md)";
  if (sameValues(values, warningCodes)) return "string, a [code of a warning](../errors.md#warnings)";
  if (values.length > 0) return `${type}, ${values.length > 1 ? "one of " : ""}${values.map((value) => `\`${value}\``).join(", ")}`;
  if (schema.pattern?.endsWith("T\\d{2}:\\d{2}:\\d{2}Z$")) return "timestamp";
  if (schema.pattern === "^\\d{4}-\\d{2}-\\d{2}$") return "date";
  return type;
}

function sameValues(values: readonly unknown[], others: readonly unknown[]): boolean {
  return values.length === others.length && values.every((value, at) => value === others[at]);
}
