/** `/data`: the loaded data, their age and their sources. Needs no key. */

import { useAnswer } from "../answer.ts";
import { count, counted, duration, moment, words } from "../domain/format.ts";
import { dataSentence } from "../domain/sentences.ts";
import { callOf } from "../domain/snippets.ts";
import { Card, Outside, Unknown } from "../parts/basics.tsx";
import { Answered } from "../parts/failed.tsx";
import { Snippets } from "../parts/shown-as.tsx";

export function DataPage() {
  const [answer, again] = useAnswer("status", (client, signal) => client.status({ signal }));
  return (
    <Answered answer={answer} again={again}>
      {(record) => {
        const sections = Object.entries(record.sections);
        const stale = sections.filter(([, section]) => section.stale).map(([name]) => words(name));
        return (
          <>
            <h1>{dataSentence(Object.keys(record.sections).length, stale)}</h1>
            {record.meta.warnings.map(({ code, detail }) => (
              <p key={code} class="note">
                <Outside text={detail} />
              </p>
            ))}
            <div class="cards">
              {sections.map(([name, section]) => (
                <Card key={name} title={words(name)}>
                  <p class={section.stale ? "stale lead" : "lead"}>
                    {duration(section.age_seconds)} old{section.stale ? ", stale" : ""} <span class="detail">{moment(section.as_of)}</span>
                  </p>
                  <p class="detail">
                    {Object.entries(section.counts)
                      .map(([kind, value]) => `${count(value)} ${words(kind)}`)
                      .join(" · ")}
                  </p>
                  <ul class="plain">
                    {section.sources.map((source) => (
                      <li key={source.name}>
                        <Outside text={source.name} />
                        <span class="detail"> as of {source.as_of === null ? "an unknown time" : moment(source.as_of)}</span>
                        {source.error === null ? null : (
                          <p class="note">
                            <Outside text={source.error} />
                          </p>
                        )}
                        {source.skipped ? <p class="detail">{counted(source.skipped, "record")} skipped</p> : null}
                      </li>
                    ))}
                  </ul>
                </Card>
              ))}
              {sections.length === 0 ? <Unknown why="The installation imports its first data; this takes some minutes." /> : null}
            </div>
            <Snippets lookup={{ path: "/api/v1/status", call: callOf("status") }} record={record} />
          </>
        );
      }}
    </Answered>
  );
}
