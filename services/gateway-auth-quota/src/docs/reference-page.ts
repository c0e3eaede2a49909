/** The reference page at `/docs/reference`: Swagger UI for the OpenAPI document of the same listener. It can call the API. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { htmlDocument } from "./page.ts";
import type { StaticFile } from "./static-file.ts";

const require = createRequire(import.meta.url);

/** @param routesPage  path of the page with the same routes but no forms; null: there is none. */
export function referencePage(title: string, routesPage: string | null): StaticFile {
  const link = routesPage === null ? "" : `<nav><a href="${routesPage}">The same routes as a plain page</a></nav>\n`;
  return htmlDocument(
    title,
    "/docs/swagger-ui.css",
    `${link}<div id="reference"></div>
<noscript>This page needs JavaScript. The same content as a document: <a href="/openapi.json">openapi.json</a></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>`,
  );
}

/**
 * The page keeps keys only while it is open.
 *
 * @param documentPath  path of the OpenAPI document at this listener.
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
    body: `${darkOnRequest}
${withoutOptionalExamples}
fetch(${JSON.stringify(documentPath)})
  .then((answer) => answer.json())
  .then((document) => {
    const domNode = window.document.getElementById("reference");
    // There is one, this; and its field has no name that a screen reader could tell.
    delete document.servers;
    SwaggerUIBundle({ ...${JSON.stringify(options)}, spec: withoutOptionalExamples(document), domNode });
  });
`,
  };
}

/** Runs in the browser. Swagger UI has dark colours below a class, and does not ask which ones the reader wants. */
const darkOnRequest = `const dark = matchMedia("(prefers-color-scheme: dark)");
const colour = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", colour);
colour();`;

/** Runs in the browser. Swagger UI fills forms with examples, so each request would be narrowed by all optional parameters. */
const withoutOptionalExamples = `function withoutOptionalExamples(document) {
  for (const path of Object.values(document.paths))
    for (const operation of Object.values(path))
      for (const parameter of operation.parameters ?? []) if (!parameter.required) delete parameter.examples;
  return document;
}`;

/** Corrects colours of Swagger UI that are too pale or too dark to read (WCAG 2, 1.4.3), and styles the line above it. */
const ownStyle = `:root { color-scheme: light dark; }
nav { padding: 20px 28px 0; font: 14px sans-serif; }
.swagger-ui .info .title small, .swagger-ui .info .title small.version-stamp { background: #4a4f57; }
nav a, .swagger-ui .info a, .swagger-ui a.link { color: light-dark(#1a5fb4, #86b7ff); }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: light-dark(#1c7a4a, #7fd9a3); border-color: light-dark(#1c7a4a, #7fd9a3); }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1f6ab0; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1c7a4a; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8f5a00; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #16706a; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3261e; }
`;

export function swaggerUiStyle(): StaticFile {
  const style = readFileSync(require.resolve("@fastify/swagger-ui/static/swagger-ui.css"), "utf8");
  return { contentType: "text/css; charset=utf-8", body: `${style}\n${ownStyle}` };
}

export function swaggerUiScript(): StaticFile {
  return {
    contentType: "text/javascript; charset=utf-8",
    body: readFileSync(require.resolve("@fastify/swagger-ui/static/swagger-ui-bundle.js")),
  };
}
