/** `/robots.txt`: the API is not for crawlers; the pages that explain it are. */

import type { StaticFile } from "./static-file.ts";

export function robots(): StaticFile {
  return { contentType: "text/plain; charset=utf-8", body: "User-agent: *\nDisallow: /api/\nDisallow: /admin/\n" };
}
