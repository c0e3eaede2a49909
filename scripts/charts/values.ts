/** A chart's values.yaml with its comments: descriptions (`# --`) and additions to the schema (`# @schema`). */

import { parse } from "yaml";

export interface Value {
  readonly path: readonly string[];
  /** Empty if there is none. */
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly default: unknown;
  /** Values of a section, which have their own descriptions; empty for a single value. */
  readonly children: readonly Value[];
}

interface Keyed {
  readonly path: string[];
  readonly line: number;
  readonly description: string;
  readonly schema: Record<string, unknown>;
}

/**
 * The values in the order of the file. A map whose keys have no descriptions is one value.
 *
 * @throws Error that names the line, for a value without a description and a `@schema` that is not JSON.
 */
export function readValues(text: string): Value[] {
  const keys = keysOf(text);
  const all: unknown = parse(text);
  const build = (parent: readonly string[]): Value[] =>
    keys
      .filter(({ path }) => path.length === parent.length + 1 && parent.every((part, at) => part === path[at]))
      .map(({ path, description, schema }) => {
        const isSection = keys.some((key) => isBelow(key.path, path) && key.description !== "");
        return { path, description, schema, default: valueAt(all, path), children: isSection ? build(path) : [] };
      });
  return build([]);
}

function isBelow(path: readonly string[], parent: readonly string[]): boolean {
  return path.length > parent.length && parent.every((part, at) => part === path[at]);
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce((value, part) => (value as Record<string, unknown>)[part], root);
}

/** The keys of maps, with the comments directly above them; without keys inside lists. */
function keysOf(text: string): Keyed[] {
  const found: Keyed[] = [];
  const open: { indent: number; name: string }[] = [];
  let comment: string[] = [];
  let listIndent = Number.POSITIVE_INFINITY;
  for (const [at, line] of text.split("\n").entries()) {
    const indent = line.search(/\S/);
    if (indent === -1) {
      comment = [];
      continue;
    }
    if (line.startsWith("#", indent)) {
      comment.push(line.slice(indent + 1).trim());
      continue;
    }
    if (line.startsWith("- ", indent)) listIndent = Math.min(listIndent, indent);
    else if (indent < listIndent || (open.at(-1)?.indent ?? 0) > indent) listIndent = Number.POSITIVE_INFINITY;
    const name = /^\s*([\w./-]+):/.exec(line)?.[1];
    if (name !== undefined && indent < listIndent) {
      while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
      open.push({ indent, name });
      found.push({ path: open.map((each) => each.name), line: at + 1, ...readComment(comment, at + 1) });
    }
    comment = [];
  }
  return found;
}

function readComment(lines: readonly string[], line: number): Pick<Keyed, "description" | "schema"> {
  const begin = lines.findIndex((each) => each.startsWith("-- "));
  const description = begin === -1 ? [] : [lines[begin]?.slice(3) ?? ""];
  for (const each of begin === -1 ? [] : lines.slice(begin + 1)) {
    if (each.startsWith("@schema ")) break;
    description.push(each);
  }
  const schema = lines.find((each) => each.startsWith("@schema "))?.slice("@schema ".length);
  try {
    return { description: description.join(" "), schema: schema === undefined ? {} : JSON.parse(schema) };
  } catch (error) {
    throw new Error(`line ${line}: its @schema is no JSON: ${(error as Error).message}`);
  }
}
