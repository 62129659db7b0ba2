import type { JSX } from "preact";
import { Loaded } from "../loading";
import { Summary } from "../overview";
import type { Catalog, Report, View } from "../types";

const Overview = (): JSX.Element => <Loaded<Report> from="/api/report/summary">{(report) =>
  <Loaded<Catalog> from="/api/catalog">{(catalog) => <Summary report={report} steps={catalog.steps} linked />}</Loaded>}</Loaded>;

export const view: View = { name: "overview", title: "Overview", order: 1, key: "1", Component: Overview };
