/** RTR sessions (RFC 8210) of sources whose location is `rtr://…`. */

export { type CacheAddress, cacheListForm, readCacheList } from "./cache-address.ts";
export { fetchVrps, RtrUnavailableError } from "./fetch-vrps.ts";
export { type CacheStatus, type RtrChange, RtrClient, type RtrData, type RtrLog } from "./rtr-client.ts";
export { createRtrMetrics, type RtrMetrics } from "./rtr-metrics.ts";
export { type RtrSource, RtrSources, type RtrStock, rtrDelayMsDefault } from "./rtr-sources.ts";
export { readVrpFile, VrpFileError, type VrpFileHead, writeVrpFile } from "./vrp-file.ts";
