/** The OpenAPI documents: without findings of a linter, with examples that fit their schemas, and nothing that leads nowhere. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parseAsn } from "@netfacts/address";
import { batchQuestions, KeyPatch, KeyRotation, NewKey, PlanLimits, Problem, ProfileFields, RunRequest } from "@netfacts/contracts";
import { type Json, operatorDocument, operatorRoutes, publicDocument, publicRoutes } from "@netfacts/contracts/openapi";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Compile } from "typebox/compile";
import { Value } from "typebox/value";
import { pick, seeded } from "../../../test/support/random.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { AsnNotation } from "../src/schema.ts";

const documents: [string, () => { readonly [member: string]: Json }][] = [
  ["public", publicDocument],
  ["operator", operatorDocument],
];
const routes = [...publicRoutes, ...operatorRoutes];

async function findings(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

describe.each(documents)("the %s document", (_name, make) => {
  test("has the version that the command line prints", () => {
    const { version } = JSON.parse(readFileSync(new URL("../../../services/cli/package.json", import.meta.url), "utf8"));
    expect(make().info).toMatchObject({ version });
  });

  test("has no findings", async () => {
    expect(await findings(make())).toEqual([]);
  });

  test("is the same each time it is made", () => {
    expect(JSON.stringify(make())).toBe(JSON.stringify(make()));
  });

  test("says of each member of each schema what it means, in a sentence", () => {
    const members = [...membersOf(make(), "#")];
    expect(members.length).toBeGreaterThan(90);
    expect(members.filter(({ schema }) => !isSentence(schema.description)).map(({ at }) => at)).toEqual([]);
  });

  test("has one type for each parameter: generators of clients make an object of a union, which has no place in a URL", () => {
    const { paths } = make() as { paths: Record<string, Record<string, { parameters?: { name: string; schema: object }[] }>> };
    const all = Object.values(paths).flatMap((operations) => Object.values(operations).flatMap(({ parameters = [] }) => parameters));
    expect(all.length).toBeGreaterThan(30);
    expect(all.filter(({ schema }) => !("type" in schema)).map(({ name }) => name)).toEqual([]);
  });

  test("tells of each operation that its URL and headers may be too long, which comes before the key and its limits", () => {
    type Responses = Record<string, { headers: object }>;
    const { paths } = make() as { paths: Record<string, Record<string, { responses: Responses }>> };
    for (const [path, operations] of Object.entries(paths))
      for (const { responses } of Object.values(operations))
        for (const status of ["414", "431"])
          expect([path, status, Object.keys(responses[status]?.headers ?? {})]).toEqual([path, status, ["X-Request-Id", "Cache-Control"]]);
  });

  test("has an example of each problem that it names, which fits the schema", () => {
    const { components } = make() as { components: { examples: Record<string, { value: unknown }> } };
    for (const [name, { value }] of Object.entries(components.examples))
      expect([name, [...Value.Errors(Problem, value)]]).toEqual([name, []]);
  });
});

/** Every member of every schema with its place; examples are no schemas. */
function* membersOf(part: Json, at: string): Generator<{ readonly at: string; readonly schema: { readonly description?: Json } }> {
  if (typeof part !== "object" || part === null) return;
  for (const [name, value] of Object.entries(part)) {
    if (name === "example" || name === "examples") continue;
    if (name === "properties")
      for (const [member, schema] of Object.entries(value as object)) yield { at: `${at}/${member}`, schema: schema as object };
    yield* membersOf(value as Json, `${at}/${name}`);
  }
}

const isSentence = (text: Json | undefined): boolean =>
  typeof text === "string" && /^[A-Z0-9`].*\.$/.test(text) && text.length > 5 && text.length <= 200;

test("what members say changes no validator", () => {
  const plain = (schema: Json): Json => {
    if (typeof schema !== "object" || schema === null) return schema;
    if (Array.isArray(schema)) return schema.map(plain);
    // Where it is a text it is the keyword; else a member has the name.
    const kept = Object.entries(schema).filter(([name, value]) => name !== "description" || typeof value !== "string");
    return Object.fromEntries(kept.map(([name, value]) => [name, plain(value)]));
  };
  for (const schema of [...Object.values(batchQuestions), NewKey, KeyPatch, KeyRotation, PlanLimits, ProfileFields, RunRequest]) {
    const text = JSON.stringify(schema);
    const without = plain(JSON.parse(text) as Json);
    expect(text).toContain("description");
    expect(Compile(JSON.parse(text)).Code()).toBe(Compile(without as object).Code());
  }
});

test.each(["0", "AS3333", "as4294967295", "1.10", "AS65535.65535", "0.1"])("AS notation %s is taken", (text) => {
  expect(Value.Check(AsnNotation, text)).toBe(true);
  expect(parseAsn(text)).not.toBeNull();
});

test("AS notation is what is read, and nothing else", () => {
  const random = seeded(seed(5396));
  const forms = [
    () => String(random(5_000_000_000)),
    () => `${random(70_000)}.${random(70_000)}`,
    () => `0${random(10)}`,
    () => `A${random(9)}`,
  ];
  for (let count = 0; count < runs(20_000); count++) {
    const text = pick(random, ["", "AS", "as", "aS", "S"]) + pick(random, forms)();
    expect([text, Value.Check(AsnNotation, text)]).toEqual([text, parseAsn(text) !== null]);
  }
});

test("the linter finds what is wrong", async () => {
  const broken = structuredClone(publicDocument()) as { paths: Record<string, { get: { operationId?: string; summary?: string } }> };
  const first = Object.values(broken.paths)[0];
  delete first?.get.summary;
  expect(await findings(broken)).toEqual([expect.stringContaining("operation-summary")]);
});

test.each(routes.map((route) => [route.id, route] as const))("each example of %s fits its schema", (_id, { answers, body, parameters }) => {
  const contents = [...answers.flatMap(({ content }) => content), ...(body?.content ?? [])];
  for (const { type, schema, example } of contents)
    if (schema !== null) expect([type, [...Value.Errors(schema, example)]]).toEqual([type, []]);
  for (const { name, schema, examples } of parameters)
    for (const text of examples) {
      const value = "type" in schema && schema.type === "array" ? text.split(",") : Value.Convert(schema, text);
      expect([name, text, Value.Check(schema, value)]).toEqual([name, text, true]);
    }
});
