/** Generates OpenAPI 3.1 from routes as data and the record schemas: the document that is served, published and tested. */

import type { ProblemCode } from "../errors.ts";
import { commonProblems, type RouteAnswer, type RouteContent, type RouteDescription } from "../routes/route.ts";
import { answerHeaders, headerComponents, headerReferences } from "./headers.ts";
import { namedSchemas } from "./named-schemas.ts";
import { problemExamples, problemResponses } from "./problems.ts";
import { type Json, SchemaComponents } from "./schemas.ts";

export interface DocumentText {
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  /** Version of the software. The version of the API is in its paths. */
  readonly version: string;
  /** Group → its description, in the order of the page. */
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * Makes the document of the given routes. The same routes give the same text.
 *
 * Throws if an operation id occurs twice, or if a tag or header has no description.
 */
export function openApiDocument(text: DocumentText, routes: readonly RouteDescription[]): { readonly [member: string]: Json } {
  const schemas = new SchemaComponents(namedSchemas);
  const paths: Record<string, Record<string, Json>> = {};
  const ids = new Set<string>();
  const codes = new Set<ProblemCode>();
  for (const route of routes) {
    if (ids.has(route.id)) throw new Error(`operation ${route.id} appears twice`);
    if (text.tags[route.tag] === undefined) throw new Error(`tag ${route.tag} has no description`);
    ids.add(route.id);
    for (const code of problemsOf(route)) codes.add(code);
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, schemas) };
  }
  const document = {
    openapi: "3.1.1",
    info: {
      title: text.title,
      description: text.description,
      version: text.version,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }],
    tags: Object.entries(text.tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", bearerFormat: "nf_live_…", description: "`Authorization: Bearer <key>`" },
      },
      schemas: schemas.all(),
      headers: headerComponents(),
      examples: problemExamples([...codes].sort()),
    },
  };
  return withoutUnused(document);
}

/** Every code that a route can answer. */
function problemsOf(route: RouteDescription): readonly ProblemCode[] {
  const common = route.scope === "open" ? commonProblems.open : [...commonProblems.open, ...commonProblems.keyed];
  return [...new Set([...route.problems, ...common])];
}

function operation(route: RouteDescription, schemas: SchemaComponents): Json {
  const keyed = route.scope !== "open";
  return {
    operationId: route.id,
    summary: route.summary,
    description: route.scope === null || !keyed ? route.description : `${route.description}\n\nNeeds the scope \`${route.scope}\`.`,
    tags: [route.tag],
    ...(keyed ? {} : { security: [] }),
    ...(route.parameters.length > 0 && { parameters: route.parameters.map((parameter) => parameterOf(parameter, schemas)) }),
    ...(route.body !== undefined && {
      requestBody: {
        description: route.body.description,
        required: route.body.required ?? true,
        content: contentOf(route.body.content, schemas),
      },
    }),
    responses: {
      ...Object.fromEntries(route.answers.map((answer) => [String(answer.status), response(answer, keyed, schemas)])),
      ...problemResponses(problemsOf(route), keyed, route.problemHeaders),
    },
  };
}

function parameterOf(parameter: RouteDescription["parameters"][number], schemas: SchemaComponents): Json {
  const { name, description, schema, examples } = parameter;
  return {
    name,
    in: parameter.in,
    description,
    required: parameter.in === "path" || parameter.required === true,
    ...(typeOf(schema) === "array" && { style: "form", explode: false }),
    schema: schemas.use(schema),
    ...(examples.length > 0 && {
      examples: Object.fromEntries(examples.map((text) => [text, { value: exampleValue(text, typeOf(schema)) }])),
    }),
  };
}

function typeOf(schema: object): unknown {
  return "type" in schema ? schema.type : null;
}

/** The value of a parameter from its text. */
function exampleValue(text: string, type: unknown): Json {
  if (type === "array") return text.split(",");
  return type === "integer" || type === "number" ? Number(text) : text;
}

function response({ description, content, headers = [] }: RouteAnswer, keyed: boolean, schemas: SchemaComponents): Json {
  return {
    description,
    headers: headerReferences([...answerHeaders(keyed), ...headers]),
    ...(content.length > 0 && { content: contentOf(content, schemas) }),
  };
}

function contentOf(content: readonly RouteContent[], schemas: SchemaComponents): Json {
  return Object.fromEntries(
    content.map(({ type, schema, example }) => [
      type,
      { schema: schema === null ? { type: "string" } : schemas.use(schema), example: example as Json },
    ]),
  );
}

/** The document with only those components that are referred to. */
function withoutUnused<T extends { components: { schemas: Record<string, Json>; headers: Record<string, Json> } }>(document: T): T {
  const used = new Set<string>();
  const follow = (part: Json): void => {
    if (Array.isArray(part)) for (const item of part) follow(item);
    else if (typeof part === "object" && part !== null)
      for (const [member, value] of Object.entries(part)) {
        if (member !== "$ref" || typeof value !== "string") follow(value as Json);
        else if (!used.has(value)) {
          used.add(value);
          const [, , kind, name] = value.split("/");
          follow((document.components as unknown as Record<string, Record<string, Json>>)[kind ?? ""]?.[name ?? ""] ?? null);
        }
      }
  };
  follow({ ...(document as unknown as Record<string, Json>), components: null });
  const keep = (kind: "schemas" | "headers") =>
    Object.fromEntries(Object.entries(document.components[kind]).filter(([name]) => used.has(`#/components/${kind}/${name}`)));
  return { ...document, components: { ...document.components, schemas: keep("schemas"), headers: keep("headers") } };
}
