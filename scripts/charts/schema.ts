/**
 * The JSON schema of a chart's values. It refuses keys that are not in values.yaml, and null for a section or for a value with a default that is not
 * empty: before Helm validates, it removes a value that is null, and its default too.
 */

import type { Value } from "./values.ts";

type Schema = Record<string, unknown>;

/** Schemas of settings, by name. */
export type Settings = Readonly<Record<string, object>>;

/** Settings of services that their charts do not set themselves, by the name in `$settings`. */
export type SettingsOf = Readonly<Record<string, Settings>>;

/** @throws Error that names a value without a description, or an unknown service in `$settings`. */
export function valuesSchema(values: readonly Value[], title: string, settings: SettingsOf = {}): Schema {
  const defaults = values.find(({ path }) => path.join(".") === "defaults");
  const inherited: Schema = defaults === undefined ? {} : propertiesOf(defaults.children, {}, settings);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title,
    type: "object",
    properties: propertiesOf(values, inherited, settings),
    required: requiredOf(values),
    additionalProperties: false,
  };
}

/** The required values: not lists, maps and texts with an empty default, because templates treat missing ones as empty. */
function requiredOf(values: readonly Value[]): string[] {
  return values.flatMap(({ path, children, default: standard }) =>
    children.length > 0 || (typeof standard !== "object" && standard !== "") ? [path.at(-1) as string] : [],
  );
}

function propertiesOf(values: readonly Value[], inherited: Schema, settings: SettingsOf): Schema {
  return Object.fromEntries(values.map((value) => [value.path.at(-1), schemaOf(value, inherited, settings)]));
}

function schemaOf(value: Value, inherited: Schema, settings: SettingsOf): unknown {
  const { path, children, description, schema, default: standard } = value;
  const { $defaults, $without = [], $settings, ...added } = schema;
  const name = path.join(".");
  const text = description === "" ? {} : { description: withoutLinks(description) };
  if (typeof $settings === "string") {
    const known = settings[$settings];
    if (known === undefined) throw new Error(`${name}: there are no settings of ${$settings}`);
    return { type: "object", ...text, properties: settingsOf(known), additionalProperties: false };
  }
  if (children.length === 0) {
    // A service may have another default for a value that `defaults` describes.
    const described = inherited[path.at(-1) ?? ""];
    if (description === "" && described !== undefined) return { ...(described as Schema), default: standard };
    if (description === "") throw new Error(`${name} has no description`);
    return { type: typeOf(standard, name), ...text, ...added, default: standard };
  }
  const own = propertiesOf(children, $defaults === true ? inherited : {}, settings);
  const others = Object.entries($defaults === true ? inherited : {}).filter(([key]) => !($without as string[]).includes(key));
  return {
    type: "object",
    ...text,
    properties: { ...Object.fromEntries(others.map(([key, each]) => [key, withoutDefault(each)])), ...own },
    required: requiredOf(children),
    // A parent chart may set other globals.
    additionalProperties: name === "global",
    ...added,
  };
}

/** Removes defaults and `required` from the schema of an inherited value: `defaults` has them. */
function withoutDefault(schema: unknown): unknown {
  const { default: _, required: __, properties, ...rest } = schema as Schema;
  if (properties === undefined) return rest;
  const inner = Object.entries(properties as Schema).map(([key, each]) => [key, withoutDefault(each)]);
  return { ...rest, properties: Object.fromEntries(inner) };
}

function settingsOf(known: Settings): Schema {
  const kept = ["type", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "description"];
  const schemaOfSetting = (setting: object) => Object.fromEntries(Object.entries(setting).filter(([key]) => kept.includes(key)));
  return Object.fromEntries(Object.entries(known).map(([name, setting]) => [name, schemaOfSetting(setting)]));
}

function typeOf(value: unknown, name: string): string {
  if (Array.isArray(value)) return "array";
  if (value === null) throw new Error(`${name} has no default: write an empty text, list or map`);
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
}
