/** `sources.yaml`: the files that make up the dataset, and the bounds within which each is trusted. */

export {
  type PerFamily,
  type RangeType,
  type SourceConfig,
  type SourcesConfig,
  type SourcesFault,
  SourcesFileError,
  type UpdateFiles,
} from "./config.ts";
export { type FetchSettings, shownUrl } from "./fetch-settings.ts";
export { readSources } from "./read-sources.ts";
export {
  type BuiltFormat,
  type BuiltSection,
  isOperators,
  isStanding,
  mayRepeat,
  type SourceSection,
  sectionOf,
  storedFormat,
} from "./sections.ts";
export { hasTimes, locationAt, locationsAt, nextStep, stepOf, stepsBackMax } from "./time-template.ts";
