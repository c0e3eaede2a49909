/** Finds circles in a graph of names. */

/** Each circle once, as a list of its names with the first one repeated at the end; empty if there is none. */
export function findCircles(edges: ReadonlyMap<string, Iterable<string>>): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];

  const visit = (node: string): void => {
    const start = path.indexOf(node);
    if (start >= 0) {
      circles.push([...path.slice(start), node]);
      return;
    }
    if (done.has(node)) return;
    path.push(node);
    for (const next of edges.get(node) ?? []) visit(next);
    path.pop();
    done.add(node);
  };

  for (const node of edges.keys()) visit(node);
  return circles;
}
