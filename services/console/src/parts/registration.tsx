/** Registration: facts of registries about address space or an AS, with the kind of network and the place. */

import type { Allocation, CountryFlag, ListedNetworkType, Location } from "@netfacts/contracts";
import { count, counted, countryName, moment, registryName, share, words } from "../domain/format.ts";
import { texts } from "../texts.ts";
import { AsLink, Card, Facts, Outside, Unknown } from "./basics.tsx";
import { LocationMap } from "./location-map.tsx";

export function Country({ code, flag }: { readonly code: string | null; readonly flag?: CountryFlag | null }) {
  if (code === null) return <span class="unknown">{texts.unknown}</span>;
  if (!flag || flag.country !== code || flag.name === null || flag.svg_url === null) {
    const name = countryName(code);
    return name === code ? <Outside text={code} /> : <Outside text={`${name} (${code})`} />;
  }
  return (
    <>
      <img class="flag" src={flag.svg_url} alt="" width={24} height={16} /> <Outside text={flag.name} /> ({code})
    </>
  );
}

/** A range from the lower address to the higher one, in every script. */
function Range({ start, end }: { readonly start: string; readonly end: string }) {
  return (
    <bdi dir="ltr">
      {start} – {end}
    </bdi>
  );
}

/** Most AS numbers of a holder that a card shows. */
const holderAsnsMax = 12;

export function AllocationFacts({ allocation, flag }: { readonly allocation: Allocation; readonly flag?: CountryFlag | null }) {
  const { registry, status, registration_country, block, allocated_on, conflicts, holder } = allocation;
  return (
    <>
      <Facts
        facts={[
          ["Registry", registryName(registry)],
          ["Status", status],
          ["Country of registration", <Country key="c" code={registration_country} flag={flag ?? null} />],
          ["Block", <Range key="block" {...block} />],
          ["Since", allocated_on],
          ["Holder", holder?.name ? <Outside key="h" text={holder.name} /> : null],
        ]}
      />
      {holder && holder.asns.length > 0 ? (
        <p class="detail">
          The holder has{" "}
          {holder.asns.slice(0, holderAsnsMax).map((asn, index) => (
            <span key={asn}>
              {index > 0 ? ", " : ""}
              <AsLink asn={asn} />
            </span>
          ))}
          {holder.asn_count > holderAsnsMax ? ` and ${count(holder.asn_count - Math.min(holderAsnsMax, holder.asns.length))} more` : ""}.
        </p>
      ) : null}
      {conflicts.map((conflict) => (
        <p key={conflict.registry} class="note">
          Registries disagree: {registryName(conflict.registry)} lists <Range {...conflict.block} />, too.
        </p>
      ))}
    </>
  );
}

export function NetworkTypesCard({ types, areUnknown }: { readonly types: readonly ListedNetworkType[]; readonly areUnknown: boolean }) {
  return (
    <Card title={texts.cards.networkTypes}>
      {areUnknown ? (
        <Unknown why={texts.reasons.noTypes} />
      ) : (
        <ul class="plain">
          {types.map((type) => (
            <li key={JSON.stringify(type)}>
              <strong>{words(type.type)}</strong>
              {type.provider ? (
                <>
                  {" "}
                  · <Outside text={type.provider} />
                </>
              ) : null}
              {type.region ? (
                <>
                  {" "}
                  · <Outside text={type.region} />
                </>
              ) : null}
              <p class="detail">
                {type.prefix ?? (type.asn === null ? "" : `AS${type.asn}`)} · <Outside text={type.basis} />
                {type.confidence === null ? "" : ` · confidence ${share(type.confidence)}`}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

export function LocationCard({ location }: { readonly location: Location | null }) {
  if (location === null)
    return (
      <Card title={texts.cards.location}>
        <Unknown why={texts.reasons.noLocation} />
      </Card>
    );
  const {
    country,
    region,
    city,
    latitude,
    longitude,
    radius_km,
    basis,
    confidence,
    observations,
    last_observed_at,
    agrees_with_registration,
  } = location;
  const place =
    latitude === null || longitude === null ? null : `${latitude}, ${longitude}${radius_km === null ? "" : ` ± ${radius_km} km`}`;
  return (
    <Card title={texts.cards.location}>
      <Facts
        facts={[
          ["Country", <Country key="c" code={country} />],
          ["Region", region === null ? null : <Outside key="r" text={region} />],
          ["City", city === null ? null : <Outside key="p" text={city} />],
          [
            "Coordinates",
            place === null ? null : (
              <bdi key="x" dir="ltr">
                {place}
              </bdi>
            ),
          ],
          ["Basis", basis === "geofeed" ? "geofeed: the network says so, unverified" : counted(observations, "observation")],
          ["Confidence", confidence === null ? null : share(confidence)],
          ["Last observed", last_observed_at === null ? null : moment(last_observed_at)],
        ]}
      />
      <LocationMap location={location} />
      {agrees_with_registration === false ? <p class="note">This is not the country of registration.</p> : null}
    </Card>
  );
}
