/** Every section that a run builds, by its name. */

import { type SectionName, sectionNames } from "@netfacts/snapshot";
import { allocations } from "./allocations.ts";
import { asNames } from "./as-names.ts";
import { aspas } from "./aspas.ts";
import { locations } from "./locations.ts";
import { networkTypes } from "./network-types.ts";
import { profiles } from "./profiles.ts";
import { routes } from "./routes.ts";
import type { SectionKind } from "./section-kind.ts";
import { vrps } from "./vrps.ts";

export const sectionKinds: Readonly<Record<SectionName, SectionKind>> = {
  routes,
  vrps,
  aspas,
  allocations,
  as_names: asNames,
  profiles,
  network_types: networkTypes,
  locations,
};

/** The order in which sections are built and stored: first those that need no other section, then the others, both in the order of manifests. */
export const buildOrder: readonly SectionName[] = [
  ...sectionNames.filter((name) => "draft" in sectionKinds[name]),
  ...sectionNames.filter((name) => "build" in sectionKinds[name]),
];
