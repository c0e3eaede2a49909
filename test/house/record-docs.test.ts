/** The pages of docs/api/records: every member is on the page of its record, and one that lacks a fact does not get there. */

import { describe, expect, test } from "@jest/globals";
import { type FactsOf, operatorRoutes, recordPages } from "@netfacts/contracts/openapi";
import Type, { type TSchema } from "typebox";
import { documentedMembers, pages } from "../../scripts/record-docs/members.ts";

const made = (schema: TSchema, facts: object, example: object) =>
  documentedMembers("made", { title: "Made", intro: "Made.", schema, facts, example });

test.each(pages)("the page of %s has every member of its example, with a type and an example for each value", (name, page) => {
  const members = documentedMembers(name, page);
  const paths = members.map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
  expect(paths).toEqual(expect.arrayContaining(Object.keys(page.example)));
  for (const member of members) {
    expect(member.meaning).toMatch(/\.$/);
    if (member.source !== null) expect([member.path, typeof JSON.parse(member.example ?? "")]).not.toEqual([member.path, "undefined"]);
  }
});

test("every record that the operator listener returns has a page", () => {
  const schemas = new Set(Object.values(recordPages).map(({ schema }) => schema));
  const returned = operatorRoutes.flatMap(({ id, answers }) =>
    answers.flatMap(({ content }) => content.flatMap(({ schema }) => (schema === null ? [] : [{ id, schema }]))),
  );
  expect(returned.length).toBeGreaterThan(15);
  expect(returned.filter(({ schema }) => !schemas.has(schema)).map(({ id }) => id)).toEqual([]);
});

test("a member of a list of objects has its place in the path, and its unit and source", () => {
  const members = documentedMembers("routing", recordPages.routing);
  expect(members.find(({ path }) => path === "origins[].visibility.peers_seeing")).toMatchObject({
    type: "integer",
    unit: "full-feed peers",
    source: "section `routes`",
    example: "352",
  });
});

describe("a member does not get onto its page", () => {
  const described = Type.String({ description: "What it is." });

  test("without facts", () => {
    expect(() => made(Type.Object({ a: described }), {}, { a: "x" })).toThrow("record made, member a: no facts");
  });

  test("without a description", () => {
    expect(() => made(Type.Object({ a: Type.String() }), { a: "request" }, { a: "x" })).toThrow("member a: no description");
  });

  test("without an example", () => {
    expect(() => made(Type.Object({ a: described }), { a: "request" }, {})).toThrow("member a: no example");
  });

  test("that is nullable and does not say when it is null", () => {
    const nullable = (description: string) => Type.Unsafe({ type: ["string", "null"], description });
    expect(() => made(Type.Object({ a: nullable("What it is.") }), { a: "request" }, { a: "x" })).toThrow("member a: is nullable");
    expect(made(Type.Object({ a: nullable("What it is. Null if unknown.") }), { a: "request" }, { a: "x" })).toHaveLength(1);
  });

  test("with a page of members that does not exist", () => {
    const inside = Type.Object({ b: described }, { description: "An object." });
    expect(() => made(Type.Object({ a: inside }), { a: { page: "nowhere" } }, {})).toThrow("member a: its members are on page nowhere");
  });
});

test("facts that are missing, or a number without its unit, do not compile", () => {
  // @ts-expect-error: member b has no facts.
  const missing: FactsOf<{ a: string; b: string }> = { a: "request" };
  // @ts-expect-error: a number has a unit.
  const withoutUnit: FactsOf<{ a: number | null }> = { a: "request" };
  const whole: FactsOf<{ a: number | null; b?: string; c: { d: boolean }[] }> = {
    a: { from: "routes", unit: "peers" },
    b: "request",
    c: { d: ["routes", "vrps"] },
  };
  expect([missing, withoutUnit, whole]).toHaveLength(3);
});
