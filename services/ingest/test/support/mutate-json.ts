/** Damage to JSON documents, by their structure: members and items moved, doubled, renamed, taken out, and put in place of others. */

import { pick, type Random } from "../../../../test/support/random.ts";
import { bytesChanged } from "./mutate-bytes.ts";

/** A document whose members may stand twice and whose numbers are written as they like. */
type Tree = { members: [name: string, value: Tree][] } | { items: Tree[] } | { text: string };

export interface JsonForm {
  /** A good document. */
  readonly document: unknown;
  /** Values as JSON text that a careful reader must mind. */
  readonly nasty: readonly string[];
}

const bytesMax = 4_000;

/** One to three changes to the structure, and at times to the bytes; written with white space here and there. Never more than 4 kB. */
export function mutatedJson(random: Random, { document, nasty }: JsonForm): Uint8Array {
  const root = treeOf(document);
  for (let change = random(3); change >= 0; change--) {
    const containers = all(root).filter((tree) => !("text" in tree));
    changed(random, pick(random, containers), containers, nasty);
  }
  let bytes: Uint8Array = Buffer.from(written(random, root));
  for (let damage = random(8); damage > 6; damage--) bytes = bytesChanged(random, bytes);
  return bytes.subarray(0, bytesMax);
}

function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { items: value.map(treeOf) };
  if (typeof value === "object" && value !== null)
    return { members: Object.entries(value).map(([name, inside]) => [name, treeOf(inside)]) };
  return { text: JSON.stringify(value) };
}

function all(tree: Tree): Tree[] {
  if ("text" in tree) return [tree];
  const inside = "items" in tree ? tree.items : tree.members.map(([, value]) => value);
  return [tree, ...inside.flatMap(all)];
}

function copyOf(tree: Tree): Tree {
  if ("text" in tree) return { text: tree.text };
  if ("items" in tree) return { items: tree.items.map(copyOf) };
  return { members: tree.members.map(([name, value]) => [name, copyOf(value)]) };
}

function changed(random: Random, tree: Tree, containers: readonly Tree[], nasty: readonly string[]): void {
  if ("text" in tree) return;
  const slots = "items" in tree ? tree.items.length : tree.members.length;
  const at = random(Math.max(1, slots));
  const other = () => {
    const from = pick(random, containers);
    const inside = all(from);
    return copyOf(
      random(3) === 0 ? pick(random, inside) : (inside.filter((one) => "text" in one)[random(4)] ?? { text: pick(random, nasty) }),
    );
  };
  const value = () => (random(3) === 0 ? other() : { text: pick(random, nasty) });
  if ("items" in tree) {
    const { items } = tree;
    const kind = random(6);
    if (kind === 0) items.splice(at, 1);
    else if (kind === 1 && items[at] !== undefined) items.splice(random(items.length), 0, copyOf(items[at]));
    else if (kind === 2) items.splice(random(items.length + 1), 0, ...items.splice(at, 1));
    else if (kind === 3 && items[at] !== undefined) items[at] = { items: [items[at]] };
    else if (kind === 4) items.splice(at, 0, value());
    else items[at] = value();
    return;
  }
  const { members } = tree;
  const member = members[at];
  if (member === undefined) {
    members.push([pick(random, namesOf(containers)), value()]);
    return;
  }
  const kind = random(8);
  if (kind === 0) members.splice(at, 1);
  else if (kind === 1) members.splice(random(members.length + 1), 0, [member[0], random(2) === 0 ? copyOf(member[1]) : value()]);
  else if (kind === 2) members.splice(random(members.length), 0, ...members.splice(at, 1));
  else if (kind === 3) member[0] = pick(random, [...namesOf(containers), "", "__proto__", member[0].toUpperCase(), `${member[0]} `]);
  else if (kind === 4) member[1] = random(2) === 0 ? { items: [member[1]] } : { members: [[member[0], member[1]]] };
  else member[1] = value();
}

function namesOf(containers: readonly Tree[]): string[] {
  const names = containers.flatMap((tree) => ("members" in tree ? tree.members.map(([name]) => name) : []));
  return names.length === 0 ? ["x"] : names;
}

function written(random: Random, tree: Tree): string {
  const space = () => (random(12) === 0 ? pick(random, [" ", "\n", "\t", "\r\n"]) : "");
  if ("text" in tree) return space() + tree.text + space();
  if ("items" in tree) return `[${space()}${tree.items.map((item) => written(random, item)).join(",")}]`;
  const named = (name: string) =>
    random(20) === 0 && name !== "" ? `"\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}"` : JSON.stringify(name);
  return `{${tree.members.map(([name, value]) => `${space()}${named(name)}${space()}:${written(random, value)}`).join(",")}}`;
}
