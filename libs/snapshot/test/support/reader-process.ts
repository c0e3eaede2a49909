/** Another process that reads an object five times and does nothing else: `node reader-process.ts FOLDER DIGEST BYTES`. Sends "freed" when the first one is. */

import { openFolderStore } from "../../src/index.ts";

const [folder, digest, bytes] = process.argv.slice(2) as [string, string, string];
const store = openFolderStore(folder);
const freed = new FinalizationRegistry<number>((reading) => process.send?.(`freed ${reading}`));
for (let reading = 0; reading < 5; reading++) freed.register((await store.getObject(digest, Number(bytes))).buffer, reading);
process.on("message", () => undefined);
