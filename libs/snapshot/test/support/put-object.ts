/**
 * A process that stores one object of a given size: `node put-object.ts FOLDER BYTES [UID]`; prints what became of it as JSON.
 * It becomes that user only now: another user may be unable to read Node or this checkout.
 */

import { openFolderStore } from "../../src/index.ts";

const [folder, bytes, uid] = process.argv.slice(2) as [string, string, string?];
if (uid !== undefined) process.seteuid?.(Number(uid));
try {
  console.log(JSON.stringify({ digest: await openFolderStore(folder).putObject(Buffer.alloc(Number(bytes), 1)) }));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  console.log(JSON.stringify({ code, message }));
}
