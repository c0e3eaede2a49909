/** Words of a text in the form that search compares: case, accents and compatibility forms are ignored. */

/** A word, and its place in the text, in UTF-16 units. */
export interface FoldedWord {
  /** At most `wordUnitsMax` units. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Number of words of a text that are indexed; a longer text is found by its beginning. */
export const wordsMax = 32;
/** Number of units of a word that are indexed. */
const wordUnitsMax = 64;

/** Letters with a stroke and ligatures, which Unicode does not decompose. */
const plainLetters: Readonly<Record<string, string>> = { æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", þ: "th", ħ: "h", ŧ: "t" };

/** Cached foldings of the most frequent characters. */
const known: (string | undefined)[] = new Array(0x2000);

/** The folding of a character; empty: it neither counts nor separates, like an accent or a bidi control. */
function foldPoint(point: number): string {
  const before = known[point];
  if (before !== undefined) return before;
  const folded = String.fromCodePoint(point)
    .normalize("NFKD")
    .replaceAll(/[\p{M}\p{Cf}]/gu, "")
    // Capitals first: ß and SS become the same, as do both forms of the small sigma. Only the small ß becomes SS, not the capital one.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[æœøđðłþħŧ]/g, (letter) => plainLetters[letter] as string);
  if (point < known.length) known[point] = folded;
  return folded;
}

/** Whether it is a letter or a digit of ASCII. */
function isPlain(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39);
}

/** @param letter  a folded character. */
function isPartOfWord(letter: string): boolean {
  const unit = letter.charCodeAt(0);
  return unit < 128 ? isPlain(unit) : /[\p{L}\p{N}]/u.test(letter);
}

/**
 * The words of a text, at most `max`: runs of letters and digits, folded (NFKD without marks and format characters, case-folded).
 *
 * Characters are folded one by one, so that each word has its place in the text. Never throws, whatever the text.
 */
export function foldedWords(text: string, max: number = wordsMax): FoldedWord[] {
  const words: FoldedWord[] = [];
  let word = "";
  let start = 0;
  let end = 0;
  const close = (): void => {
    // One character may fold to several words: ﷺ has four.
    if (word !== "" && words.length < max) words.push({ text: word.slice(0, wordUnitsMax), start, end });
    word = "";
  };
  for (let at = 0; at < text.length && words.length < max; ) {
    if (isPlain(text.charCodeAt(at))) {
      // Most texts have nothing else, and are read by runs.
      let after = at + 1;
      while (after < text.length && isPlain(text.charCodeAt(after))) after++;
      if (word === "") start = at;
      if (word.length < wordUnitsMax) word += text.slice(at, Math.min(after, at + wordUnitsMax)).toLowerCase();
      end = after;
      at = after;
      continue;
    }
    const point = text.codePointAt(at) as number;
    const next = at + (point > 0xffff ? 2 : 1);
    const folded = foldPoint(point);
    // The character belongs to the letter before it.
    if (folded === "" && word !== "" && end === at) end = next;
    for (const letter of folded) {
      if (!isPartOfWord(letter)) close();
      else {
        if (word === "") start = at;
        if (word.length < wordUnitsMax) word += letter;
        end = next;
      }
    }
    at = next;
  }
  close();
  return words;
}

/** The end, in the text, of the first `units` units of a word. */
export function prefixEnd(text: string, { start, end }: FoldedWord, units: number): number {
  let count = 0;
  for (let at = start; at < end; ) {
    const point = text.codePointAt(at) as number;
    const folded = foldPoint(point);
    if (count >= units && folded !== "") return at;
    count += folded.length;
    at += point > 0xffff ? 2 : 1;
  }
  return end;
}

/** Words shorter than this must match exactly: nearly all short words are one edit apart. */
const editUnitsMin = 4;

/** Whether a word of a question may be misspelt; words with digits are taken as they are. */
export function mayBeMisspelt(word: string): boolean {
  return word.length >= editUnitsMin && !/\p{N}/u.test(word);
}

/** Whether one insertion, deletion, substitution, or swap of neighbours turns one text into the other. */
export function isOneEdit(a: string, b: string): boolean {
  if (a.length > b.length) return isOneEdit(b, a);
  if (b.length - a.length > 1 || a === b) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  if (a.length < b.length) return a.slice(at) === b.slice(at + 1);
  if (a.slice(at + 1) === b.slice(at + 1)) return true;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
