/** Messages for values that do not fit their schema, such as `must be a whole number from 1 to 1000`. */

import { nearestWord } from "@netfacts/contracts";
import { wordList } from "./word-list.ts";
/** An error as typebox reports it. */
export interface SchemaError {
  readonly keyword: string;
  /** A fragment like `#/properties/rate`: the schema that was not met. */
  readonly schemaPath: string;
  /** A JSON pointer into the value. */
  readonly instancePath: string;
  readonly params: object;
}

/** One wrong place of a value. */
export interface SchemaFault {
  /** JSON pointer, with the missing or unknown member at its end. */
  readonly pointer: string;
  readonly message: string;
  readonly suggestion: string | null;
}

/** The members of JSON Schema that our schemas use. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly minProperties?: number;
}

/** Descriptions of the texts that match a pattern, by the pattern. */
const formOf: Readonly<Record<string, string>> = {
  "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$": "a time in UTC such as 2026-11-21T09:00:00Z",
  "^\\d{4}-\\d{2}-\\d{2}$": "a date such as 2026-11-21",
  "^\\d{4}-(0[1-9]|1[0-2])$": "a month such as 2026-11",
  "^[A-Za-z0-9_-]{1,64}$": "1 to 64 letters, digits, `-` and `_`",
  "^(key|day|month|route_class)(,(key|day|month|route_class))*$": "one or more of key, day, month and route_class, separated by commas",
  "^[^,]*$": "a name without commas",
  "^[a-z0-9][a-z0-9_-]{0,39}$": "a name of 1 to 40 lower-case letters, digits, `-` and `_` that starts with a letter or digit",
  "^[a-z][a-z0-9_]{0,39}$": "a word of 1 to 40 lower-case letters, digits and `_` that starts with a letter",
};

const notBlank = "[^\\s\\ufeff]";

/** @returns the places of one error; several if several members are missing or unknown. */
export function schemaFaults(root: unknown, { keyword, schemaPath, instancePath, params }: SchemaError): readonly SchemaFault[] {
  const schema = schemaAt(root, schemaPath);
  const fault = (pointer: string, message: string, suggestion: string | null = null): SchemaFault => ({ pointer, message, suggestion });
  const { requiredProperties = [], additionalProperties = [] } = params as {
    requiredProperties?: readonly string[];
    additionalProperties?: readonly string[];
  };
  if (keyword === "required") return requiredProperties.map((name) => fault(`${instancePath}/${name}`, "is missing"));
  if (keyword === "additionalProperties") {
    const known = Object.keys(schema.properties ?? {});
    const message =
      known.length === 0 ? "is unknown; no members are allowed here" : `is unknown; the known members are ${wordList(known, "and")}`;
    return additionalProperties.map((name) => fault(`${instancePath}/${name}`, message, nearestWord(name, known)));
  }
  // A member that additionalProperties forbids has this error too, and the other one says more.
  if (keyword === "boolean") return [];
  if (keyword === "uniqueItems") return [fault(instancePath, "must not contain duplicates")];
  return [fault(instancePath, `must be ${wantedText(schema)}`)];
}

/** Description of the values that a schema accepts, as the end of "must be …". */
export function wantedText(schema: unknown): string {
  const wanted = schema as Schema;
  if (wanted.enum !== undefined) return wordList(wanted.enum.map(String), "or");
  const types = typeof wanted.type === "string" ? [wanted.type] : (wanted.type ?? []);
  return types.length === 0
    ? "a value that the reference describes"
    : wordList(
        types.map((type) => typeText(type, wanted)),
        "or",
      );
}

function textOf({ minLength = 0, maxLength }: Schema): string {
  return maxLength === undefined ? "a non-empty string" : `a string of ${minLength} to ${maxLength} characters`;
}

function typeText(type: string, schema: Schema): string {
  switch (type) {
    case "integer":
    case "number":
      return `${type === "integer" ? "a whole number" : "a number"}${rangeText(schema.minimum, schema.maximum)}`;
    case "string":
      if (schema.pattern === notBlank) return `${textOf(schema)} that is not all spaces`;
      if (schema.pattern !== undefined) return formOf[schema.pattern] ?? `a string that matches ${schema.pattern}`;
      return textOf(schema);
    case "array":
      return `a ${schema.maxItems === undefined && schema.minItems === 1 ? "non-empty " : ""}list${schema.maxItems === undefined ? "" : ` of ${schema.minItems ?? 0} to ${schema.maxItems} items`}`;
    case "object": {
      const names = Object.keys(schema.properties ?? {});
      if (names.length === 0) return "an object";
      return schema.minProperties === 1
        ? `an object with at least one of ${wordList(names, "and")}`
        : `an object with ${wordList(names, "and")}`;
    }
    case "boolean":
      return "true or false";
    default:
      return type;
  }
}

function rangeText(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}

function schemaAt(root: unknown, path: string): Schema {
  let schema = root;
  for (const name of path.split("/").slice(1)) schema = (schema as Readonly<Record<string, unknown>> | undefined)?.[name];
  return (schema ?? {}) as Schema;
}
