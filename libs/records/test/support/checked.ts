/** Records as a responder sends them, each checked against its schema: members, their types and their order. */

import { expect } from "@jest/globals";
import {
  AsnRecord,
  type AsnVrpsQuestion,
  AsnVrpsRecord,
  IpRecord,
  PrefixRecord,
  RoutingRecord,
  StatusRecord,
  ValidityRecord,
} from "@netfacts/contracts";
import type { Generation } from "@netfacts/snapshot";
import { Compile } from "typebox/compile";
import { address, prefix } from "../../../snapshot/test/support/text.ts";
import {
  AnswerNotes,
  asnRecord,
  asnVrpsSteps,
  finish,
  ipRecord,
  prefixRecord,
  routingRecord,
  statusRecord,
  validityRecord,
} from "../../src/index.ts";

/** Five minutes after the made snapshots. */
export const now = Date.parse("2026-11-21T09:00:02Z");

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
}

const validators = new Map<object, ReturnType<typeof Compile>>();

/** Members must stand in the order of the schema, at every depth. */
function expectOrder(value: unknown, schema: Schema, at: string): void {
  if (Array.isArray(value)) for (const item of value) expectOrder(item, schema.items ?? {}, `${at}[]`);
  else if (value !== null && typeof value === "object" && schema.properties !== undefined) {
    const names = Object.keys(value);
    expect({ at, names }).toEqual({ at, names: Object.keys(schema.properties).filter((name) => names.includes(name)) });
    for (const name of names) expectOrder((value as Record<string, unknown>)[name], schema.properties[name] ?? {}, `${at}/${name}`);
  }
}

function checked<T extends object>(
  schema: object,
  notes: AnswerNotes,
  body: T,
): T & { meta: ReturnType<AnswerNotes["meta"]>; warnings: string[] } {
  const record = JSON.parse(JSON.stringify({ ...body, meta: notes.meta("test") }));
  const validator = validators.get(schema) ?? Compile(schema as Parameters<typeof Compile>[0]);
  validators.set(schema, validator);
  expect(validator.Errors(record)).toEqual([]);
  expectOrder(record, schema as Schema, "");
  return { ...record, warnings: record.meta.warnings.map((warning: { code: string }) => warning.code) };
}

/** One question each; the record comes back as its reader gets it, with the codes of its warnings. */
export function ask(generation: Generation, nowMs = now) {
  const notes = () => new AnswerNotes(generation, nowMs);
  const asked = <T extends object>(schema: object, build: (to: AnswerNotes) => T) => {
    const to = notes();
    return checked(schema, to, build(to));
  };
  return {
    ip: (text: string) => asked(IpRecord, (to) => ipRecord(address(text), to)),
    routing: (text: string, { moreSpecifics = false, upstreams = false, limit = 100 } = {}) =>
      asked(RoutingRecord, (to) => routingRecord({ ip: address(text), moreSpecifics, upstreams, limit }, to)),
    prefix: (text: string, limit = 100) => asked(PrefixRecord, (to) => prefixRecord({ prefix: prefix(text), limit }, to)),
    asn: (
      asn: number,
      {
        family = null,
        rpki = null,
        aggregate = false,
        limit = 100,
      }: { family?: 4 | 6 | null; rpki?: "valid" | "invalid" | "not-found" | null; aggregate?: boolean; limit?: number } = {},
    ) => asked(AsnRecord, (to) => asnRecord({ asn, family, rpki, aggregate, limit }, to)),
    asnVrps: (asn: number, { family = null, announced = null, loose = null, limit = 100 }: Partial<Omit<AsnVrpsQuestion, "asn">> = {}) =>
      asked(AsnVrpsRecord, (to) => finish(asnVrpsSteps({ asn, family, announced, loose, limit }, to))),
    validity: (asn: number, text: string) => asked(ValidityRecord, (to) => validityRecord({ asn, prefix: prefix(text) }, to)),
    status: () => asked(StatusRecord, (to) => statusRecord(to)),
  };
}
