/** `/`: the purpose of the console; example addresses if the samples are in service, else the loaded data. */

import { useAnswer } from "../answer.ts";
import { sampleAddresses } from "../domain/sample-addresses.ts";
import { texts } from "../texts.ts";

export function HomePage() {
  const [answer] = useAnswer("status", (client, signal) => client.status({ signal }));
  return (
    <>
      <h1>{texts.home.title}</h1>
      <p class="lead">{texts.home.lead}</p>
      {answer.state !== "answered" ? null : answer.record.meta.warnings.some(({ code }) => code === "sample_data") ? (
        <SampleAddresses />
      ) : (
        <p>
          <a href="/data">{texts.home.own}</a>
        </p>
      )}
    </>
  );
}

/** Example addresses of the samples; an operator's own data may have no facts about them. */
function SampleAddresses() {
  return (
    <>
      <h2>{texts.home.examples}</h2>
      <ul class="examples">
        {sampleAddresses.map(({ ip, why }) => (
          <li key={ip}>
            <a href={`/address/${ip}`}>{ip}</a> <span class="detail">{texts.home.whys[why]}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
