/** `sources.yaml`: which files make the dataset, and within which bounds each is trusted. */

export { type PerFamily, type SourceConfig, type SourcesConfig, type SourcesFault, SourcesFileError } from "./config.ts";
export { type FetchSettings, shownUrl } from "./fetch-settings.ts";
export { readSources } from "./read-sources.ts";
export { type BuiltFormat, type BuiltSection, builtFormats, isStanding } from "./sections.ts";
export { locationsAt } from "./time-template.ts";
