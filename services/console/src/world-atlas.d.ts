/** The coasts and borders of Natural Earth, as TopoJSON. */
declare module "world-atlas/countries-110m.json" {
  import type { GeometryCollection, Topology } from "topojson-specification";

  const world: Topology<{ readonly countries: GeometryCollection; readonly land: GeometryCollection }>;
  export default world;
}
