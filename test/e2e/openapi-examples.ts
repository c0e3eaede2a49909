/** Every example of the OpenAPI document as a request: what it asks, and what its answer must be. */

import { publicRoutes, type RouteContent, type RouteDescription } from "@netfacts/contracts/openapi";

export interface ExampleRequest {
  readonly name: string;
  readonly method: "GET" | "POST";
  /** From the root of the API. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  /** What the answer's body is, by its content type; null: without a body. */
  readonly content: RouteContent | null;
}

/** Each parameter's examples in turn, beside the first of those that must stand; each body, and each type of answer. */
export function exampleRequests(): ExampleRequest[] {
  return publicRoutes.flatMap((route) => [
    ...asked(route, {}),
    // What was published a moment ago has no past; `as-of.test.ts` asks about one that has.
    ...route.parameters
      .filter(({ name }) => name !== "as_of")
      .flatMap(({ name, examples }) => examples.flatMap((text) => asked(route, { [name]: text }))),
  ]);
}

function asked(route: RouteDescription, chosen: Readonly<Record<string, string>>): ExampleRequest[] {
  const [answer] = route.answers;
  const path = pathOf(route, chosen);
  const contents: (RouteContent | null)[] = answer.content.length === 0 ? [null] : [...answer.content];
  const bodies: (RouteContent | null)[] = route.body === undefined ? [null] : [...route.body.content];
  return bodies.flatMap((body) =>
    // A format that was chosen goes before `Accept`; members are chosen of JSON only.
    contents
      .filter((content) => chosen.fields === undefined || content?.type === "application/json")
      .filter((content) => chosen.format === undefined || content === null || formatOf(content.type) === chosen.format)
      .map((content) => ({
        name: [route.id, ...Object.entries(chosen).flat(), body?.type ?? "", content?.type ?? ""].filter((word) => word !== "").join(" "),
        method: route.method === "post" ? ("POST" as const) : ("GET" as const),
        path,
        headers: { ...(content !== null && { accept: content.type }), ...(body !== null && { "content-type": body.type }) },
        ...(body !== null && { body: `${JSON.stringify(body.example)}\n` }),
        status: answer.status,
        content,
      })),
  );
}

function pathOf({ path, parameters }: RouteDescription, chosen: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place, examples, required } of parameters) {
    const text = chosen[name] ?? examples[pairOf(parameters, chosen, name)];
    if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(text ?? ""));
    else if (place === "query" && text !== undefined && (required === true || chosen[name] !== undefined)) query.set(name, text);
  }
  return query.size === 0 ? filled : `${filled}?${query}`;
}

/** Parts of one value, as network and length, go together: the example of the same place. */
function pairOf(parameters: RouteDescription["parameters"], chosen: Readonly<Record<string, string>>, name: string): number {
  const other = parameters.find((parameter) => parameter.in === "path" && parameter.name !== name && chosen[parameter.name] !== undefined);
  return other === undefined ? 0 : Math.max(0, other.examples.indexOf(chosen[other.name] ?? ""));
}

function formatOf(type: string): string {
  const names: Record<string, string> = {
    "application/json": "json",
    "application/x-ndjson": "ndjson",
    "text/csv": "csv",
    "text/plain": "text",
  };
  return names[type] ?? type;
}
