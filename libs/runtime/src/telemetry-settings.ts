/** Checks the standard variables that OpenTelemetry would silently ignore or replace, before it is loaded: that takes 0.3 s. */

import { ConfigError } from "./config-error.ts";
import { readSecretSetting } from "./secret-setting.ts";
import { withoutSecrets } from "./secrets.ts";

const endpointVariables = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;

const protocols = ["http/protobuf", "http/json"] as const;

/** Standard variables that hold the collector's credentials: each may be in a file, like our own secrets. */
const secretVariables = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"] as const;

/**
 * Puts the credentials that are in files into their variables, where the exporter reads them.
 *
 * @throws ConfigError for an endpoint, a protocol, a sampler, a ratio, a propagator, a number or a list of headers that the SDK would not use as it
 * stands, or a missing file.
 */
export function readTelemetrySettings(env: NodeJS.ProcessEnv): void {
  checkEndpoint(env);
  checkNames(env);
  readProtocol(env);
  for (const name of secretVariables) {
    const text = readSecretSetting(name, env);
    if (text !== "") env[name] = text;
    checkHeaders(name, text);
  }
}

/** How spans are sent. @throws ConfigError */
export function readProtocol(env: NodeJS.ProcessEnv): (typeof protocols)[number] {
  const name = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ? "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" : "OTEL_EXPORTER_OTLP_PROTOCOL";
  const protocol = env[name]?.trim() || "http/protobuf";
  const known = protocols.find((each) => each === protocol);
  if (known === undefined) throw new ConfigError([`${name} must be one of ${protocols.join(", ")}, not ${JSON.stringify(protocol)}`]);
  return known;
}

/** The exporter ignores a URL that it cannot read, and sends to port 4318 of this machine. Only the first variable that is set is used. */
function checkEndpoint(env: NodeJS.ProcessEnv): void {
  const name = endpointVariables.find((each) => env[each]);
  if (name === undefined) return;
  const text = env[name] as string;
  if (/^\s*https?:\/\//i.test(text) && URL.canParse(text)) return;
  throw new ConfigError([`${name} must be an http or https URL, not ${JSON.stringify(withoutSecrets(text))}`]);
}

/**
 * The exporter silently leaves out an entry that it cannot read, and what is behind a semicolon: the collector gets no credentials. The message shows
 * no value.
 */
function checkHeaders(name: string, text: string): void {
  const at = text.split(",").findIndex((entry) => entry.trim() !== "" && !isHeader(entry));
  if (at === -1) return;
  const form = "a list of name=value with percent-encoded values, such as authorization=Bearer%20TOKEN";
  throw new ConfigError([`${name} must be ${form}; entry ${at + 1} is not, and its value is not shown`]);
}

function isHeader(entry: string): boolean {
  const [, value = ""] = /^\s*[\w!#$%&'*+.^`|~-]+\s*=([^;\n]*)$/.exec(entry) ?? [];
  try {
    return decodeURIComponent(value).trim() !== "";
  } catch {
    return false;
  }
}

/** Numbers: times are in ms. */
const numbers = [
  "OTEL_EXPORTER_OTLP_TIMEOUT",
  "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
  "OTEL_BSP_SCHEDULE_DELAY",
  "OTEL_BSP_EXPORT_TIMEOUT",
  "OTEL_BSP_MAX_QUEUE_SIZE",
  "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
] as const;

const isWhole = (text: string) => Number.isInteger(Number(text)) && Number(text) > 0;

const samplers = ["always_on", "always_off", "traceidratio"].flatMap((name) => [name, `parentbased_${name}`]);
const propagators = ["tracecontext", "baggage", "b3", "b3multi", "none"];

/** The SDK silently replaces an unknown sampler or ratio by "all traces", 0 or a number with a unit by its default, and ignores other propagators. */
function checkNames(env: NodeJS.ProcessEnv): void {
  const oneOf = (names: readonly string[]) => `one of ${names.join(", ")}`;
  const isRatio = (text: string) => Number(text) >= 0 && Number(text) <= 1;
  const rules: readonly (readonly [name: string, isGood: (text: string) => boolean, expected: string])[] = [
    ["OTEL_TRACES_SAMPLER", (text) => samplers.includes(text), oneOf(samplers)],
    ["OTEL_TRACES_SAMPLER_ARG", (text) => env.OTEL_TRACES_SAMPLER?.endsWith("traceidratio") !== true || isRatio(text), "from 0 to 1"],
    [
      "OTEL_PROPAGATORS",
      (text) => text.split(",").every((each) => ["", ...propagators].includes(each.trim())),
      `a list of ${propagators.join(", ")}`,
    ],
    ...numbers.map((name) => [name, isWhole, "a whole number above 0, without a unit"] as const),
  ];
  const faults = rules.flatMap(([name, isGood, expected]) => {
    const text = env[name] ?? "";
    return text.trim() === "" || isGood(text) ? [] : [`${name} must be ${expected}, not ${JSON.stringify(text)}`];
  });
  if (faults.length > 0) throw new ConfigError(faults);
}
