/** @netfacts/content: the bytes of a file, decompressed while they are read; gzip, bzip2, zstd or plain, recognised by the content. */

export { ContentError, type ContentErrorCode, systemReason } from "./content-error.ts";
export { type Compression, type Content, openContent, unpackStream } from "./open-content.ts";
