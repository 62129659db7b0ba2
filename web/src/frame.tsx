// The page within a notebook: every view that needs no editor. The kernel answers in place of a server.
import "./style.css";
import { render } from "preact";
import { go } from "./address";
import { Shell } from "./shell";
import "./print.css";

go(`#${document.body.dataset.view ?? ""}`);
document.body.classList.add("framed");
render(<Shell />, document.getElementById("page")!);
