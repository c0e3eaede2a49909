/** Suggestions for misspelt words. */

/** The nearest word, in which at most one letter in three differs and at least one is the same; null if none. Cost: words × their length². */
export function nearestWord(text: string, words: readonly string[]): string | null {
  // A longer text is no misspelling, and would be expensive.
  if (text.length > 40) return null;
  let nearest: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const distance = editDistance(spelt(text), spelt(word));
    if (distance < least && distance <= Math.max(1, Math.floor(word.length / 3)) && distance < Math.max(text.length, word.length)) {
      nearest = word;
      least = distance;
    }
  }
  return nearest;
}

function spelt(text: string): string {
  return text.toLowerCase().replaceAll("-", "_");
}

/** Levenshtein distance: how many letters must be inserted, deleted or changed. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
