/** Attributes of a part of a picture that is a button: it takes clicks, Enter and the space bar. */
export const pressable = (run: () => void) => ({
  role: "button" as const,
  tabIndex: 0,
  onClick: run,
  onKeyDown: (e: KeyboardEvent) => {
    if (e.key !== "Enter" && e.key !== " ") return;
    e.preventDefault();
    run();
  },
});
