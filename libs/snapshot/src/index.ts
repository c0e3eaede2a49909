/** The snapshot: its sections, its stores, a generation in memory, and the lookups over its sections. */

export {
  type ColumnPieces,
  type ColumnSpec,
  type Columns,
  columnPieces,
  decodeColumns,
  encodeColumns,
  type SectionFormat,
  SectionFormatError,
} from "./columns.ts";
export { packCountry } from "./country-code.ts";
export { type SectionPair, type SnapshotChange, sectionChanges, sectionPairs } from "./diff/snapshot-diff.ts";
export {
  type DatasetHolder,
  type FollowerEvents,
  type FollowerOptions,
  type FollowerState,
  followerDefaults,
  SnapshotFollower,
} from "./follower.ts";
export { ageSeconds, isStale } from "./freshness.ts";
export { Generation, type LoadedSection, type LoadedSnapshot, loadSection, manyPeers, sectionsOf } from "./generation.ts";
export { GrowableUint8, GrowableUint16, GrowableUint32, release } from "./growable.ts";
export { type Ipv4IndexForm, ipv4IndexConfig } from "./ipv4-index.ts";
export { LoaderThreads, loadSnapshot } from "./loader.ts";
export { type AllocationEntry, type AllocationRelation, AllocationTable, type AsnEntry, type Holder } from "./lookup/allocation-table.ts";
export { type LocationFound, LocationTable } from "./lookup/locations.ts";
export type { Neighbour, NeighbourSummary } from "./lookup/neighbours.ts";
export {
  matchRoute,
  type OriginatedRows,
  type PeerCounts,
  type RouteMatch,
  type RouteOrigin,
  type RouteOverlay,
  RouteTable,
  type Seen,
  searchAscending,
} from "./lookup/route-table.ts";
export {
  isGlobal,
  lookupSpecialPurpose,
  lookupSpecialPurposePrefix,
  specialPurposeEntry,
  specialPurposeInside,
} from "./lookup/special-purpose.ts";
export {
  encodeManifest,
  lostSections,
  type Manifest,
  ManifestError,
  NewerManifestError,
  rollbackManifest,
  type SectionEntry,
  type SectionName,
  type SourceEntry,
  sealManifest,
  sectionNames,
} from "./manifest.ts";
export { decodeManifest } from "./manifest-form.ts";
export { objectMemory } from "./object-memory.ts";
export {
  type PastAnswer,
  type PastEvents,
  PastGenerations,
  type PastOptions,
  type PastQuestion,
  pastConfigSchema,
  pastDefaults,
  pastOptionsOf,
} from "./past-generations.ts";
export { secondsTimestamp } from "./seconds-timestamp.ts";
export { kindOf, packSection, type SectionColumns, type SectionRecord } from "./section-kinds.ts";
export {
  type AllocationStatus,
  type AllocationsColumns,
  allocationsFormat,
  noHolder,
  type Registry,
  registries,
  statuses,
} from "./sections/allocations.ts";
export { type AsNamesColumns, asNamesColumns, asNamesFormat } from "./sections/as-names.ts";
export { type AspasColumns, aspaSectionColumns, aspasFormat } from "./sections/aspas.ts";
export { checkHistory, type HistoryColumns, historyFormat } from "./sections/history.ts";
export {
  type LocationRecord,
  type LocationsColumns,
  locationsColumns,
  locationsFormat,
  type Observed,
  type OutlierPlace,
  type Outliers,
  type PlaceNames,
} from "./sections/locations.ts";
export {
  type NetworkTypeRecord,
  type NetworkTypeStatement,
  type NetworkTypesColumns,
  networkTypesColumns,
  operatorTypesBasis,
  statementTypesMax,
} from "./sections/network-types.ts";
export { type PathsColumns, pathsFormat } from "./sections/paths.ts";
export { type Profile, type ProfileBasis, type ProfilesColumns, profilesColumns, profilesFormat } from "./sections/profiles.ts";
export { linkSeen, originKind, type RoutesColumns, routesFormat } from "./sections/routes.ts";
export { type VrpsColumns, vrpSectionColumns, vrpsFormat } from "./sections/vrps.ts";
export { type FolderStoreOptions, openFolderStore } from "./store/folder-store.ts";
export { type OpenedSnapshot, openDataFolder, openSnapshot, openSnapshots, snapshotsFolder } from "./store/open-snapshot.ts";
export { openPack, writePack } from "./store/pack.ts";
export { watchReadings } from "./store/pointer-watch.ts";
export {
  decideKept,
  type Kept,
  type NamedObjects,
  namedObjects,
  type Publication,
  pastManifest,
  type Retention,
  retentionConfigSchema,
  retentionDefaults,
  retentionOf,
  withPublication,
} from "./store/retention.ts";
export {
  type ObjectBytes,
  type PointerWatch,
  PublicationConflictError,
  type PublishOptions,
  piecesOf,
  SnapshotError,
  type SnapshotPointer,
  type SnapshotStore,
  SnapshotUnavailableError,
} from "./store/snapshot-store.ts";
export {
  type OpenedStore,
  type OpenOptions,
  type OpenStore,
  openStoreSource,
  prepareStoreSource,
  type StoreSource,
} from "./store/store-source.ts";
export { readTakenBack, type TakenBack, type TakenBackVersion, takenBackBy } from "./store/taken-back.ts";
export { packStrings } from "./strings.ts";
export { type FoldedWord, foldedWords, isOneEdit, mayBeMisspelt, prefixEnd, wordsMax } from "./words/folded-words.ts";
export { matchLevels, WordIndex } from "./words/word-index.ts";
export { levelOf, type OtherRows, rankOf, ranks, WordSearch } from "./words/word-search.ts";
