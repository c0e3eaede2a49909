/** A process that packs a snapshot: `node write-pack.ts FOLDER ID PACK`; prints what became of it as JSON. */

import { openFolderStore, writePack } from "../../src/index.ts";

const [folder, id, pack] = process.argv.slice(2) as [string, string, string];
try {
  const manifest = await writePack(openFolderStore(folder), id, pack);
  console.log(JSON.stringify({ id: manifest.id }));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  console.log(JSON.stringify({ code, message }));
}
