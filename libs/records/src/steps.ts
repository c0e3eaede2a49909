/** Long work in steps, so that other questions are answered in between; and JSON serialisation in such steps. */

/** Work that may pause between its steps; the result comes last. */
export type Steps<T> = Generator<void, T>;

/** Number of list items that one step processes: some 100 to 200 µs. */
export const stepItems = 64;

/** Runs all steps without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Maps each item; pauses after every `stepItems` items. */
export function* mapSteps<T, U>(items: Iterable<T>, of: (item: T) => U): Steps<U[]> {
  const list: U[] = [];
  for (const item of items) if (list.push(of(item)) % stepItems === 0) yield;
  return list;
}

/** The bytes of `JSON.stringify`, for a value of plain objects, lists and texts; a long list takes a step for every `stepItems` items. */
export function* jsonSteps(value: object): Steps<Buffer> {
  if (!hasLong(value)) return Buffer.from(JSON.stringify(value));
  const pieces: Buffer[] = [];
  for (const text of texts(value)) {
    pieces.push(Buffer.from(text));
    yield;
  }
  return Buffer.concat(pieces);
}

/** The text in pieces. */
function* texts(value: object): Generator<string> {
  if (Array.isArray(value)) {
    for (let start = 0; start < value.length; start += stepItems)
      yield `${start === 0 ? "[" : ","}${JSON.stringify(value.slice(start, start + stepItems)).slice(1, -1)}`;
    yield "]";
    return;
  }
  let text = "{";
  let separator = "";
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    text += `${separator}${JSON.stringify(name)}:`;
    separator = ",";
    if (hasLong(member)) {
      yield text;
      yield* texts(member as object);
      text = "";
    } else text += JSON.stringify(member);
  }
  yield `${text}}`;
}

/** Whether a member is a long list, or an object with a long list: records have none deeper. */
function hasLong(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return isLong(value);
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (isLong(member) || (isPlain(member) && Object.values(member).some(isLong))) return true;
  }
  return false;
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isLong(value: unknown): boolean {
  return Array.isArray(value) && value.length > stepItems;
}
