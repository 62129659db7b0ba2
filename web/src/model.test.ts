import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node } from "./types";
import { command, foldable, given, unfolded } from "./views/model";

const options = [
  { name: "max_depth", default: "10", meaning: "" },
  { name: "show_name_regexes", default: ".*", meaning: "" },
];
const node = (depth: number): Node => ({
  depth,
  name: "n",
  values: {},
  line: null,
  mark: "",
  about: "",
  kind: "",
});
const trees = fc.array(fc.nat(4), { maxLength: 40 }).map((steps) => {
  let depth = 0;
  return steps.map((s, i) => {
    depth = i ? Math.min(s, depth + 1) : 0;
    return node(depth);
  });
});

test("only options that differ are given, and the command says them", () => {
  expect(given({ max_depth: "10", show_name_regexes: "conv.*", odd: "1" }, options)).toEqual({
    show_name_regexes: "conv.*",
  });
  expect(command("op", { max_depth: "3", show_name_regexes: "it's (a)" })).toBe(
    "stepscope tfprof op PATH -max_depth 3 -show_name_regexes 'it'\\''s (a)'",
  );
});

test("a closed node hides all that is below it, and nothing else", () => {
  fc.assert(
    fc.property(trees, fc.array(fc.nat(39)), (nodes, shut) => {
      const closed = new Set(shut);
      const above = (i: number): boolean => {
        // whether a node around this one is closed
        let depth = nodes[i]!.depth;
        for (let k = i - 1; k >= 0; k--)
          if (nodes[k]!.depth < depth) {
            if (closed.has(k)) return true;
            depth = nodes[k]!.depth;
          }
        return false;
      };
      expect(unfolded(nodes, closed)).toEqual(nodes.map((_, i) => i).filter((i) => !above(i)));
      expect([...foldable(nodes)]).toEqual(
        nodes.map((_, i) => i).filter((i) => (nodes[i + 1]?.depth ?? 0) > nodes[i]!.depth),
      );
    }),
  );
});
