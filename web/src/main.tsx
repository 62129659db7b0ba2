import "./style.css";
import { render } from "preact";
import { handOver } from "./api";
import { askFirst } from "./live";
import { Problem } from "./loading";
import { Shell } from "./shell";
import "./print.css";

const page = document.getElementById("page")!;
handOver()
  .then(askFirst)
  .then(
    () => render(<Shell />, page),
    (error: unknown) =>
      render(
        <main>
          <Problem error={error} />
        </main>,
        page,
      ),
  );
