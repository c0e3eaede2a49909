/** RTR sources in sources.yaml. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { readSources, type SourcesConfig, type SourcesFileError } from "../../src/sources/index.ts";

async function read(source: string): Promise<SourcesConfig | string[]> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-rtr-"));
  try {
    const path = join(folder, "sources.yaml");
    await writeFile(path, `sources:\n  - {name: rpki, ${source}}\n`);
    return await readSources(path).catch((error: SourcesFileError) => error.faults.map(({ message }) => message));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("takes one cache or several, with their ports, and looks for no file", async () => {
  const config = await read('section: vrps, format: rtr, location: "rtr://Validator.example.net, rtr+tls://[2001:db8::1]:8324"');
  expect(config).toMatchObject({
    sources: [
      {
        name: "rpki",
        section: "vrps",
        format: "rtr",
        location: "rtr://validator.example.net:323,rtr+tls://[2001:db8::1]:8324",
        required: true,
        intervalSeconds: 3_600,
        staleAfterSeconds: 10_800,
      },
    ],
  });
});

test.each([
  [
    'section: vrps, format: rtr, location: "http://validator:323"',
    "location: expected rtr://host:port or rtr+tls://host:port, or up to 8 of them separated by commas, the preferred one first",
  ],
  ['section: vrps, format: rpki-client-json, location: "rtr://validator"', "location: rtr:// requires format rtr"],
  ['section: routes, format: rtr, location: "rtr://validator"', 'format: "rtr" does not fit section routes; expected mrt'],
  [
    'section: vrps, format: rtr, location: "rtr://validator", md5: "x"',
    "md5: is only for a source that is fetched, whose location is an http or https URL",
  ],
])("refuses %s", async (source, fault) => {
  expect(await read(source)).toEqual([fault]);
});
