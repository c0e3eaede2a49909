/** `/`: what the console is for, and addresses worth a look. */

import { texts } from "../texts.ts";

/** They mean something in the samples and in today's Internet. */
const examples = [
  ["193.0.6.139", texts.home.whys.registry],
  ["1.1.1.1", texts.home.whys.invalid],
  ["192.0.2.1", texts.home.whys.special],
] as const;

export function HomePage() {
  return (
    <>
      <h1>{texts.home.title}</h1>
      <p class="lead">{texts.home.lead}</p>
      <h2>{texts.home.examples}</h2>
      <ul class="examples">
        {examples.map(([ip, why]) => (
          <li key={ip}>
            <a href={`/address/${ip}`}>{ip}</a> <span class="detail">{why}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
