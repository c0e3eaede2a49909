/** Settings from the environment, checked against a TypeBox schema: every fault is reported at once. */

import { Ajv, type ErrorObject } from "ajv";
import type { Static, TObject, TSchema } from "typebox";
import { ConfigError } from "./config-error.ts";
import { isSecretSetting, readSecretSetting } from "./secret-setting.ts";

export { ConfigError } from "./config-error.ts";

/** Names whose values never appear in a message. */
const secretName = /KEY|SECRET|TOKEN|PASSWORD|PEPPER|CREDENTIAL|URI|NATS_URL/i;

/** Our schemas are not validated themselves, and the code of each is not optimized: it runs once. Both would take half of the time. */
const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  coerceTypes: true,
  allowUnionTypes: true,
  meta: false,
  validateSchema: false,
  code: { optimize: false },
});
ajv.addVocabulary(["allowed"]);

/** A decimal number; the exponent is there because YAML tools write large numbers with one. */
const decimal = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * Reads the settings that the schema names; others in the environment are ignored. White space around a value is ignored, and an empty value counts
 * as not set: tools that write secrets and files of settings add line breaks. A secret may be in a file instead, which `<NAME>_FILE` names.
 *
 * @param schema  flat: strings, numbers, integers, booleans and enumerations, with defaults and descriptions. Numbers are decimal, and at most
 * 2^53 - 1 if the schema has no maximum. A string with a `pattern` names in `allowed` the characters that it allows.
 *
 * @throws ConfigError with every fault.
 */
export function loadConfig<Schema extends TObject>(schema: Schema, given: NodeJS.ProcessEnv = process.env): Static<Schema> {
  const env = withSecretFiles(Object.keys(schema.properties), given);
  const data = Object.fromEntries(
    Object.entries(schema.properties).flatMap(([name, property]) => {
      const text = (env[name] ?? "").trim();
      return text === "" ? [] : [[name, isNumeric(property) ? numberOf(text) : text]];
    }),
  );
  const validate = ajv.compile<Static<Schema>>(bounded(schema));
  if (!validate(data)) throw new ConfigError(faultsOf(validate.errors ?? [], schema, env));
  return data;
}

/**
 * Runs every loader, so that the faults of all groups of settings are reported at once.
 *
 * @throws ConfigError with the faults of all; other errors of a loader unchanged.
 */
export function loadConfigs<Loaders extends Readonly<Record<string, () => unknown>>>(
  loaders: Loaders,
): { [Name in keyof Loaders]: ReturnType<Loaders[Name]> } {
  const faults: string[] = [];
  const loaded = Object.entries(loaders).map(([name, load]) => {
    try {
      return [name, load()];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return [name, null];
    }
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.fromEntries(loaded);
}

/** The faults of settings that a function refuses; other errors of it are thrown. */
export function configFaults(check: () => unknown): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults;
  }
}

function isNumeric(property: TSchema): boolean {
  return "type" in property && (property.type === "integer" || property.type === "number");
}

/** NaN, which no schema allows, for texts that Ajv would convert: `Infinity`, `0x10`. */
function numberOf(text: string): number {
  return decimal.test(text) ? Number(text) : Number.NaN;
}

/** The schema with a maximum for each number: larger numbers are not exact. */
function bounded(schema: TObject): TObject {
  const properties = Object.entries(schema.properties).map(([name, property]) => [
    name,
    isNumeric(property) ? { maximum: Number.MAX_SAFE_INTEGER, ...property } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function withSecretFiles(names: readonly string[], given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env = { ...given };
  const faults: string[] = [];
  for (const name of names) {
    // A file setting that the schema has itself is read by its user, again for each connection.
    if (!isSecretSetting(name) || names.includes(`${name}_FILE`)) continue;
    const read = () => {
      env[name] = readSecretSetting(name, given);
    };
    faults.push(...configFaults(read));
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return env;
}

/** One line per setting, even if its value breaks several rules. */
function faultsOf(violations: readonly ErrorObject[], schema: TObject, env: NodeJS.ProcessEnv): string[] {
  const bySetting = Map.groupBy(violations, settingOf);
  return [...bySetting].map(([name, broken]) => {
    const value = env[name];
    const found =
      value === undefined || value.trim() === ""
        ? ""
        : secretName.test(name)
          ? ", and its value does not fit"
          : `, not ${JSON.stringify(value)}`;
    return `${name} ${rule(broken, schema.properties[name])}${exampleFor(value, schema.properties[name])}${found}`;
  });
}

/** A number with a unit, such as 10s or 16 MiB. */
const withUnit = /^[+-]?\d+([.,]\d+)?\s*[a-zµ%]+$/i;

/** What to write in place of a number with a unit: the default shows it. */
function exampleFor(value = "", property: TSchema | undefined): string {
  if (property === undefined || !isNumeric(property) || !withUnit.test(value.trim())) return "";
  const example = "default" in property ? `, such as ${property.default}` : "";
  return ` without a unit${example}`;
}

function settingOf({ instancePath, params }: ErrorObject): string {
  return typeof params.missingProperty === "string" ? params.missingProperty : instancePath.slice(1);
}

/** Lists the values of a choice: Ajv reports each alternative separately. */
function rule(broken: readonly ErrorObject[], property: TSchema | undefined): string {
  if (broken.some(({ keyword }) => keyword === "required")) return "must be set";
  const choices = broken.flatMap(({ keyword, params }) => {
    if (keyword === "enum") return params.allowedValues as unknown[];
    return keyword === "const" ? [params.allowedValue] : [];
  });
  if (choices.length > 0) return `must be one of ${choices.join(", ")}`;
  return [...new Set(broken.map((violation) => brokenRule(violation, property)))].join(" and ");
}

const typeNames: Readonly<Record<string, string>> = { integer: "a whole number", number: "a number", boolean: "true or false" };

function brokenRule({ keyword, params, message = "is invalid" }: ErrorObject, property: TSchema | undefined): string {
  const type = keyword === "type" ? typeNames[String(params.type)] : undefined;
  if (type !== undefined) return `must be ${type}`;
  if (keyword === "pattern" && property !== undefined && "allowed" in property) return `must have only ${property.allowed}`;
  if (keyword === "minLength") return `must have at least ${params.limit} characters`;
  if (keyword === "maxLength") return `must have at most ${params.limit} characters`;
  if (keyword === "minimum") return `must be at least ${params.limit}`;
  if (keyword === "maximum") return `must be at most ${params.limit}`;
  return message;
}
