// For the platform's page: makes the frame of a creator's page, hands tokens over, and sets the height.
//   sluiceCreators(element, {base, account, token: async () => "scp1...", lang, ask(question)})
// token() asks the platform's own backend; it is called again before a token ends.
function sluiceCreators(element, options) {
  "use strict";
  const base = new URL(options.base).origin;
  const frame = document.createElement("iframe");
  frame.src = base + "/c/" + encodeURIComponent(options.account) + "/";
  frame.title = options.title || "Earnings";
  frame.style.cssText = "display:block;width:100%;border:0;min-height:20rem";
  const listen = async ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== base || !data || data.sluice !== 1) return;
    if (data.type === "height" && data.height > 0) frame.style.height = data.height + "px";
    if (data.type === "ask" && options.ask) options.ask({ number: data.number, cause: data.cause });
    if (data.type !== "token") return;
    const token = await options.token();
    frame.contentWindow?.postMessage({ sluice: 1, type: "token", token, lang: options.lang }, base);
  };
  addEventListener("message", listen);
  element.append(frame);
  return { frame, remove: () => { removeEventListener("message", listen); frame.remove(); } };
}
