/** A process that stores one object of a given size: `node put-object.ts FOLDER BYTES`; prints what became of it as JSON. */

import { openFolderStore } from "../../src/index.ts";

const [folder, bytes] = process.argv.slice(2) as [string, string];
try {
  console.log(JSON.stringify({ digest: await openFolderStore(folder).putObject(Buffer.alloc(Number(bytes), 1)) }));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  console.log(JSON.stringify({ code, message }));
}
