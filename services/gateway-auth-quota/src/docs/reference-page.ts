/** The reference page at `/docs/reference`: Swagger UI over the OpenAPI document that is served beside it. It can call the API. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { htmlDocument } from "./page.ts";
import type { StaticFile } from "./static-file.ts";

const require = createRequire(import.meta.url);

export function referencePage(title: string): StaticFile {
  return htmlDocument(
    title,
    "/docs/swagger-ui.css",
    `<div id="reference"></div>
<noscript>This page needs JavaScript. The same content as a document: <a href="/openapi.json">openapi.json</a></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>`,
  );
}

/**
 * Keys are kept by the page while it is open, and nowhere else.
 *
 * @param documentPath  where this listener serves its OpenAPI document.
 */
export function referenceScript(documentPath: string): StaticFile {
  const options = {
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    persistAuthorization: false,
    validatorUrl: null,
  };
  return {
    contentType: "text/javascript; charset=utf-8",
    body: `${withoutOptionalExamples}
fetch(${JSON.stringify(documentPath)})
  .then((answer) => answer.json())
  .then((document) => {
    const domNode = window.document.getElementById("reference");
    SwaggerUIBundle({ ...${JSON.stringify(options)}, spec: withoutOptionalExamples(document), domNode });
  });
`,
  };
}

/** In the browser: forms are filled with examples, which would narrow each question by every optional parameter. */
const withoutOptionalExamples = `function withoutOptionalExamples(document) {
  for (const path of Object.values(document.paths))
    for (const operation of Object.values(path))
      for (const parameter of operation.parameters ?? []) if (!parameter.required) delete parameter.examples;
  return document;
}`;

export function swaggerUiStyle(): StaticFile {
  return { contentType: "text/css; charset=utf-8", body: readFileSync(require.resolve("@fastify/swagger-ui/static/swagger-ui.css")) };
}

export function swaggerUiScript(): StaticFile {
  return {
    contentType: "text/javascript; charset=utf-8",
    body: readFileSync(require.resolve("@fastify/swagger-ui/static/swagger-ui-bundle.js")),
  };
}
