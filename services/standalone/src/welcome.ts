/** The text that a start prints. */

import type { CreatedKey } from "@netfacts/keys";
import type { Generation } from "@netfacts/snapshot";

/** An address that is in the samples and in today's Internet. */
const exampleAddress = "193.0.6.139";

export interface WelcomeOptions {
  readonly url: string;
  readonly operationsUrl: string;
  /** null: there is no operator listener. */
  readonly operatorUrl: string | null;
  readonly folder: string;
  readonly generation: Generation;
  /** null: the first key was made at an earlier start, or is that of `ADMIN_KEY`. */
  readonly firstKey: CreatedKey | null;
  readonly hasConsole: boolean;
}

/** Lines for people. Commands can be pasted into a shell; the `curl` command works unchanged if the key is new. */
export function welcomeText({ url, operationsUrl, operatorUrl, folder, generation, firstKey, hasConsole }: WelcomeOptions): string {
  const { manifest } = generation;
  const names = Object.keys(manifest.sections).map((name) => name.replaceAll("_", " "));
  const width = Math.max(...names.map((name) => name.length));
  const sections = Object.values(manifest.sections).map((section, at) => `  ${names[at]?.padEnd(width)} as of ${section.as_of}`);
  const lines = [
    "",
    `Netfacts answers at ${url} (metrics and health: ${operationsUrl})`,
    manifest.sample_data ? "The sample dataset, for testing:" : "The dataset:",
    ...sections,
  ];
  if (manifest.sample_data) lines.push("To import today's data: docs/getting-started.md");
  lines.push("");
  if (firstKey !== null) {
    lines.push(`Your API key, shown only once: ${firstKey.secret}`, "", "Try it:", curlLine(url, firstKey.secret));
  } else {
    lines.push(
      "A key is shown only when it is created. To create one:",
      `  bin/netfacts keys create --label mine --data-dir ${shellWord(folder)}`,
      "",
      "With your key in NETFACTS_KEY:",
      curlLine(url, "$NETFACTS_KEY"),
    );
  }
  if (hasConsole) lines.push("", `In a browser, with the key: ${url}/`);
  lines.push("", `API reference with a form for every route: ${url}/docs/reference`);
  if (operatorUrl !== null) {
    if (hasConsole) lines.push("", `Pages for operators: ${operatorUrl}/`);
    lines.push(
      "",
      `Operator API: ${operatorUrl}/docs/reference, with a key that has the scope admin:`,
      `  bin/netfacts keys create --label operator --scopes admin --data-dir ${shellWord(folder)}`,
    );
  }
  lines.push("", "ready; press Ctrl-C to stop", "");
  return lines.join("\n");
}

function curlLine(url: string, key: string): string {
  const quote = key.startsWith("$") ? '"' : "'";
  return `curl -sS -H ${quote}Authorization: Bearer ${key}${quote} ${shellWord(`${url}/api/v1/ip/${exampleAddress}`)}`;
}

/** The text for a shell, quoted only if necessary. */
function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
