/** What a misspelt word was meant to be. */

/** The word that is nearest, where it is near: a letter in three may differ, and one must be shared. Null for none. Cost: words × their length². */
export function nearestWord(text: string, words: readonly string[]): string | null {
  // Longer ones are no misspelling, and would cost.
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

/** Levenshtein's: how many letters are to be put in, left out, or changed. */
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
