/* The theme's buttons that unfold a part of the navigation have a picture and no name. */
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".bd-sidebar summary")) {
    const section = summary.closest("li")?.querySelector("a")?.textContent.trim() ?? "section";
    summary.setAttribute("aria-label", `Pages of ${section}`);
  }
});

/* Excerpts of search results are of the text, without the way to the page and blank lines. */
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  const textOf = Search.htmlToText;
  const navigation = /<nav\b[\s\S]*?<\/nav>/g;
  Search.htmlToText = (page, anchor) => textOf(page.replace(navigation, ""), anchor).replace(/\s+/g, " ");
});

/* Sphinx lays out the parameters of a signature as definitions without terms: to a screen reader they are plain text. */
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll("dt.sig > dl > dd, dt.sig > dl")) {
    const plain = document.createElement("div");
    plain.className = part.localName === "dd" ? "sig-parameter" : "";
    plain.append(...part.childNodes);
    part.replaceWith(plain);
  }
});
