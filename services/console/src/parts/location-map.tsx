/** A location on a map, with a legend and the places that contradict it; or the reason why there is no map. */

import type { Location, LocationOutliers } from "@netfacts/contracts";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { count, counted, countryName, share } from "../domain/format.ts";
import { confidenceWords, coordinates, type Place, placeOf } from "../domain/place.ts";
import { plainText } from "../domain/plain-text.ts";
import { texts } from "../texts.ts";
import { Unknown } from "./basics.tsx";

type Drawing = ComponentType<{ readonly place: Place; readonly label: string }>;

export function LocationMap({ location }: { readonly location: Location }) {
  const place = placeOf(location);
  return (
    <>
      {place === null ? (
        <Unknown why={location.basis === "geofeed" ? texts.place.geofeed : texts.place.noCoordinates} />
      ) : (
        <Marked location={location} place={place} />
      )}
      {location.outliers === null || location.outliers.observations === 0 ? null : <Outliers outliers={location.outliers} />}
    </>
  );
}

function Marked({ location, place }: { readonly location: Location; readonly place: Place }) {
  const [drawing, setDrawing] = useState<{ readonly map: Drawing } | "loading" | "failed">("loading");
  useEffect(() => {
    let isLeft = false;
    import("./world-map.tsx").then(
      ({ WorldMap }) => {
        if (!isLeft) setDrawing({ map: WorldMap });
      },
      () => {
        if (!isLeft) setDrawing("failed");
      },
    );
    return () => {
      isLeft = true;
    };
  }, []);
  const text = `${coordinates(place)}${place.radiusKm > 0 ? `, ${texts.place.within(count(place.radiusKm))}` : ""}`;
  return (
    <>
      {drawing === "loading" ? (
        <p role="status">{texts.place.loading}</p>
      ) : drawing === "failed" ? (
        <Unknown why={texts.place.failed} />
      ) : (
        <drawing.map place={place} label={texts.place.label(text)} />
      )}
      <p>
        {text}
        {location.confidence === null ? "." : `. ${texts.place.sure(confidenceWords(location.confidence), share(location.confidence))}`}
      </p>
      <p class="detail">
        {place.radiusKm > 0 ? texts.place.circle : texts.place.noRadius} {place.outliersKm.length > 0 ? texts.place.rings : ""}
      </p>
    </>
  );
}

function Outliers({ outliers: { observations, items } }: { readonly outliers: LocationOutliers }) {
  return (
    <>
      <h3>{texts.place.outliers(counted(observations, "observation"))}</h3>
      <ul class="plain">
        {items.map(({ country, region, city, distance_km, observations }) => {
          const where = [city, region].filter((text) => text !== null).map((text) => plainText(text ?? ""));
          if (country !== null) where.push(countryName(country));
          return (
            <li key={`${country} ${region} ${city} ${distance_km}`}>
              <bdi>{where.length === 0 ? texts.unknown : where.join(", ")}</bdi>
              <span class="detail">
                {" "}
                · {counted(observations, "observation")}
                {distance_km === null ? "" : ` · ${texts.place.away(count(distance_km))}`}
              </span>
            </li>
          );
        })}
      </ul>
    </>
  );
}
