/** A place on a map of the world. It is loaded separately, because the coasts are larger than all pages together. */

import { geoAzimuthalEqualArea, geoCircle, geoGraticule10, geoPath } from "d3-geo";
import { feature, mesh } from "topojson-client";
import world from "world-atlas/countries-110m.json";
import { degreesOf, type Place, shownKm } from "../domain/place.ts";
import { useWidth } from "./use-width.ts";

const land = feature(world, world.objects.land);
const borders = mesh(world, world.objects.countries, (a, b) => a !== b);
const graticule = geoGraticule10();

const heightShare = 0.62;

export function WorldMap({ place, label }: { readonly place: Place; readonly label: string }) {
  const [holder, width] = useWidth<HTMLDivElement>();
  return (
    // North is up and east is right in every script.
    <div class="world" dir="ltr" ref={holder}>
      {width === 0 ? null : <Drawing place={place} label={label} width={width} height={Math.round(width * heightShare)} />}
    </div>
  );
}

interface DrawingProps {
  readonly place: Place;
  readonly label: string;
  readonly width: number;
  readonly height: number;
}

function Drawing({ place, label, width, height }: DrawingProps) {
  const angle = degreesOf(shownKm(place));
  // In this equal-area projection, a distance on the map is 2 sin(angle / 2) times the scale.
  const scale = height / 2 / (2 * Math.sin((angle * Math.PI) / 360));
  const path = geoPath(
    geoAzimuthalEqualArea()
      .rotate([-place.longitude, -place.latitude])
      .translate([width / 2, height / 2])
      .scale(scale)
      .clipExtent([
        [0, 0],
        [width, height],
      ]),
  );
  const around = (km: number) => path(geoCircle().center([place.longitude, place.latitude]).radius(degreesOf(km))()) ?? "";
  return (
    <svg role="img" aria-label={label} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      <path class="graticule" d={path(graticule) ?? ""} />
      <path class="land" d={path(land) ?? ""} />
      <path class="borders" d={path(borders) ?? ""} />
      {place.outliersKm.map((km) => (
        <path key={km} class="outlier" d={around(km)} />
      ))}
      {place.radiusKm > 0 ? <path class="radius" d={around(place.radiusKm)} /> : null}
      <circle class="place" cx={width / 2} cy={height / 2} r={3.5} />
    </svg>
  );
}
