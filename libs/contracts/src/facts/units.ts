/** Units that the facts of several records share. */

export const asNumber = "AS number";
export const peers = "full-feed peers";
export const partialPeers = "peers without a full table";
export const prefixes = "prefixes";
export const paths = "paths";
export const origins = "origins";
export const vrps = "VRPs";
export const items = "items";
export const seconds = "seconds";
export const records = "records";
export const bytes = "bytes";
export const requests = "requests";
export const ratio = "ratio, 0 to 1";
