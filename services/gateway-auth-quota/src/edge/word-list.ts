/** Lists of words for the texts of problems. */

const lists = {
  and: new Intl.ListFormat("en-GB", { type: "conjunction" }),
  or: new Intl.ListFormat("en-GB", { type: "disjunction" }),
};

/** `a, b and c`. */
export function wordList(words: readonly string[], joint: keyof typeof lists): string {
  return lists[joint].format(words);
}
