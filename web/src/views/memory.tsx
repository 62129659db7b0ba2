import type { JSX } from "preact";
import { Loaded } from "../loading";
import { Sections } from "../sections";
import type { Report, View } from "../types";

const Memory = (): JSX.Element => <Loaded<Report> from="/api/report/memory">{(report) => <>
  {report.headline.map((sentence) => <p class="headline">{sentence}</p>)}
  <Sections of={report} />
</>}</Loaded>;

export const view: View = { name: "memory", title: "Memory", order: 5, key: "5", Component: Memory };
