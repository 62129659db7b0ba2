// The page of stepscope in a sandboxed frame; what it asks goes to the kernel, what the kernel answers goes to it.
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = `stepscope: ${model.get("title")}`;
  frame.style.cssText = `width:100%;height:${model.get("height")}px;border:0`;
  // JupyterLab and VS Code say on the body what their theme is; a frame takes it from the scheme of its element.
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight || vscodeThemeKind) frame.style.colorScheme = jpThemeLight === "false" || /dark/.test(vscodeThemeKind ?? "") ? "dark" : "light";
  frame.srcdoc = model.get("page");
  const ask = (e) => {
    if (e.source === frame.contentWindow && Number.isInteger(e.data?.id)) model.send({ ...e.data, of: mine });
  };
  // Several outputs may show one widget: an answer is for the frame that asked.
  const mine = crypto.getRandomValues(new Uint32Array(2)).join("");
  const told = ({ id, status, of }, buffers) => {
    if (of !== mine) return;
    const { buffer, byteOffset, byteLength } = buffers[0];
    frame.contentWindow?.postMessage({ id, status, bytes: buffer.slice(byteOffset, byteOffset + byteLength) }, "*");
  };
  addEventListener("message", ask);
  model.on("msg:custom", told);
  el.append(frame);
  return () => {
    removeEventListener("message", ask);
    model.off("msg:custom", told);
  };
}
export default { render };
