/** Settings: defaults, conversion, and every fault at once. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import Type from "typebox";
import { ConfigError, loadConfig } from "../src/index.ts";

const schema = Type.Object({
  HOST: Type.String({ default: "127.0.0.1" }),
  PORT: Type.Integer({ default: 8080, minimum: 0, maximum: 65_535 }),
  LOG_LEVEL: Type.Union([Type.Literal("info"), Type.Literal("debug")], { default: "info" }),
  ADMIN_KEY: Type.Optional(Type.String({ minLength: 20 })),
  VERBOSE: Type.Boolean({ default: false }),
});

function faultsOf(env: NodeJS.ProcessEnv, of: Parameters<typeof loadConfig>[0] = schema): readonly string[] {
  try {
    loadConfig(of, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe("loadConfig", () => {
  test.each(["", " ", "\n", " \t\r\n"])("takes defaults for what is not set, empty or blank: %j", (blank) => {
    const env = { HOST: blank, PORT: blank, LOG_LEVEL: blank, ADMIN_KEY: blank };
    expect(loadConfig(schema, env)).toEqual({ HOST: "127.0.0.1", PORT: 8080, LOG_LEVEL: "info", VERBOSE: false });
  });

  test.each(["\n", "\r\n", " "])("white space behind a value of any type does not count: %j", (end) => {
    const of = Type.Object({ ...schema.properties, NATS_PASSWORD: Type.String(), NATS_PASSWORD_FILE: Type.String({ default: "" }) });
    const env = { HOST: `::1${end}`, PORT: `90${end}`, LOG_LEVEL: `debug${end}`, VERBOSE: `true${end}`, NATS_PASSWORD: `p${end}` };
    expect(loadConfig(of, env)).toEqual({
      HOST: "::1",
      PORT: 90,
      LOG_LEVEL: "debug",
      VERBOSE: true,
      NATS_PASSWORD: "p",
      NATS_PASSWORD_FILE: "",
    });
  });

  test("names a required setting that is blank", () => {
    expect(faultsOf({ MONGODB_URI: " \n" }, Type.Object({ MONGODB_URI: Type.String() }))).toEqual(["MONGODB_URI must be set"]);
  });

  test("converts text to the setting's type", () => {
    expect(loadConfig(schema, { PORT: "9000", VERBOSE: "true", LOG_LEVEL: "debug" })).toMatchObject({
      PORT: 9000,
      VERBOSE: true,
      LOG_LEVEL: "debug",
    });
  });

  test.each([
    ["9000\n", 9000],
    ["+5", 5],
    ["007", 7],
    ["1e+06", 1_000_000],
    ["9007199254740991", 9_007_199_254_740_991],
  ])("reads the decimal number %j", (text, value) => {
    expect(loadConfig(Type.Object({ UNITS_MAX: Type.Integer() }), { UNITS_MAX: text })).toEqual({ UNITS_MAX: value });
  });

  test.each(["Infinity", "-Infinity", "NaN", "0x10", "0b1", "1_000", "5 6", "1."])("refuses %j as a number", (text) => {
    const numbers = Type.Object({ UNITS_MAX: Type.Integer({ default: 1 }), RATIO: Type.Number({ default: 1 }) });
    expect(faultsOf({ UNITS_MAX: text, RATIO: text }, numbers)).toEqual([
      `UNITS_MAX must be a whole number, not ${JSON.stringify(text)}`,
      `RATIO must be a number, not ${JSON.stringify(text)}`,
    ]);
  });

  test.each(["10s", "16 MiB", "1.5h", "50%"])("says that %j has no unit, with an example", (text) => {
    const numbers = Type.Object({ DRAIN_SECONDS: Type.Integer({ default: 10 }), RATIO: Type.Number() });
    expect(faultsOf({ DRAIN_SECONDS: text, RATIO: text }, numbers)).toEqual([
      `DRAIN_SECONDS must be a whole number without a unit, such as 10, not ${JSON.stringify(text)}`,
      `RATIO must be a number without a unit, not ${JSON.stringify(text)}`,
    ]);
  });

  test("refuses a number that is too large to be exact", () => {
    for (const text of ["1e300", "9007199254740992"])
      expect(faultsOf({ UNITS_MAX: text }, Type.Object({ UNITS_MAX: Type.Integer() }))).toEqual([
        `UNITS_MAX must be at most 9007199254740991, not "${text}"`,
      ]);
  });

  test("leaves out what the schema does not name", () => {
    expect(loadConfig(schema, { PATH: "/bin" })).not.toHaveProperty("PATH");
  });

  test("does not change the schema", () => {
    const before = JSON.stringify(schema);
    loadConfig(schema, {});
    expect(JSON.stringify(schema)).toBe(before);
  });

  test("tells every fault at once, one line per setting", () => {
    expect(faultsOf({ PORT: "http", LOG_LEVEL: "loud", VERBOSE: "perhaps" })).toEqual([
      'PORT must be a whole number, not "http"',
      'LOG_LEVEL must be one of info, debug, not "loud"',
      'VERBOSE must be true or false, not "perhaps"',
    ]);
  });

  test("tells the bound that is broken", () => {
    expect(faultsOf({ PORT: "70000" })).toEqual(['PORT must be at most 65535, not "70000"']);
  });

  test("names a required setting that is missing", () => {
    expect(faultsOf({}, Type.Object({ MONGODB_URI: Type.String() }))).toEqual(["MONGODB_URI must be set"]);
  });

  test("says in words which characters a setting allows, and shows no regular expression", () => {
    const allowed = "letters and digits";
    const texts = Type.Object({ BUCKET: Type.String({ pattern: "^[a-z0-9]+$", maxLength: 6, allowed }) });
    expect(faultsOf({ BUCKET: "a.b" }, texts)).toEqual(['BUCKET must have only letters and digits, not "a.b"']);
    expect(faultsOf({ BUCKET: "abcdefg" }, texts)).toEqual(['BUCKET must have at most 6 characters, not "abcdefg"']);
  });

  test("does not show the value of a secret", () => {
    const faults = faultsOf({ ADMIN_KEY: "hunter2" });
    expect(faults).toHaveLength(1);
    expect(faults[0]).not.toContain("hunter2");
  });
});

describe("a secret in a file", () => {
  const secrets = Type.Object({ PROXY_TOKEN: Type.String({ minLength: 8 }), MONGODB_URI: Type.String({ default: "mongodb://127.0.0.1" }) });
  const folder = mkdtempSync(join(tmpdir(), "netfacts-secret-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test("and one in the environment is read without the line's end", () => {
    const env = { PROXY_TOKEN: "0123456789\n", MONGODB_URI: " mongodb://user:password@db/netfacts\n" };
    expect(loadConfig(secrets, env)).toEqual({ PROXY_TOKEN: "0123456789", MONGODB_URI: "mongodb://user:password@db/netfacts" });
  });

  test("is read from where <NAME>_FILE names it, without the line's end", () => {
    const env = { PROXY_TOKEN_FILE: file("token", "0123456789\n"), MONGODB_URI_FILE: file("uri", "mongodb://user:password@db\n") };
    expect(loadConfig(secrets, env)).toEqual({ PROXY_TOKEN: "0123456789", MONGODB_URI: "mongodb://user:password@db" });
  });

  test("is refused when it is set twice, missing or empty, all at once and without its value", () => {
    const env = { PROXY_TOKEN: "0123456789", PROXY_TOKEN_FILE: file("token", "0123456789"), MONGODB_URI_FILE: join(folder, "none") };
    expect(faultsOf(env, secrets)).toEqual([
      "PROXY_TOKEN and PROXY_TOKEN_FILE are both set; set only one",
      `MONGODB_URI_FILE: ${join(folder, "none")} does not exist`,
    ]);
    expect(faultsOf({ PROXY_TOKEN_FILE: file("empty", "\n") }, secrets)).toEqual([`PROXY_TOKEN_FILE: ${join(folder, "empty")} is empty`]);
    expect(faultsOf({ PROXY_TOKEN_FILE: folder }, secrets)).toEqual([
      `PROXY_TOKEN_FILE: ${folder} cannot be read: illegal operation on a directory`,
    ]);
    expect(faultsOf({ PROXY_TOKEN_FILE: file("short", "short") }, secrets).join()).not.toContain('"short"');
  });
});
