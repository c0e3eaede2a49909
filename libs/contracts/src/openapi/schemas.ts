/** Record schemas as OpenAPI components. Each named schema appears once, and every use of it is a reference. */

import type { TSchema } from "typebox";
import { nullable } from "../schema.ts";

/** Part of a JSON document. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** Converts schemas for a document. A member's description is beside its reference, as OpenAPI 3.1 allows. */
export class SchemaComponents {
  /** References by the schema's text: builders copy schemas, so equal schemas are different objects. */
  readonly #references = new Map<string, Json>();
  readonly #named: Readonly<Record<string, TSchema>>;

  /** Throws if two names have the same schema: one word per concept. */
  constructor(named: Readonly<Record<string, TSchema>>) {
    this.#named = named;
    for (const [name, schema] of Object.entries(named)) {
      const text = JSON.stringify(schema);
      if (this.#references.has(text)) throw new Error(`schema ${name} is the same as another one`);
      const reference = { $ref: `#/components/schemas/${name}` };
      this.#references.set(text, reference);
      if ((schema as { type?: unknown }).type === "object")
        this.#references.set(JSON.stringify(nullable(schema)), { anyOf: [reference, { type: "null" }] });
    }
  }

  /** The document's form of a schema where it is used. */
  use(schema: TSchema): Json {
    return this.#convert(JSON.parse(JSON.stringify(schema)) as Json);
  }

  /** The named schemas themselves, by name. */
  all(): Record<string, Json> {
    return Object.fromEntries(
      Object.entries(this.#named).map(([name, schema]) => [name, this.#inside(JSON.parse(JSON.stringify(schema)) as Json)]),
    );
  }

  #convert(schema: Json): Json {
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return this.#inside(schema);
    const { description, ...plain } = schema as { readonly [member: string]: Json };
    const reference = this.#references.get(JSON.stringify(plain));
    if (reference === undefined) return this.#inside(schema);
    return description === undefined ? reference : { ...(reference as object), description };
  }

  #inside(schema: Json): Json {
    if (Array.isArray(schema)) return schema.map((item: Json) => this.#convert(item));
    if (typeof schema !== "object" || schema === null) return schema;
    return Object.fromEntries(Object.entries(schema).map(([member, value]) => [member, this.#convert(value)]));
  }
}
