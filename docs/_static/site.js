/* The theme's buttons that unfold a part of the navigation have a picture and no name. */
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".bd-sidebar summary")) {
    const section = summary.closest("li")?.querySelector("a")?.textContent.trim() ?? "section";
    summary.setAttribute("aria-label", `Pages of ${section}`);
  }
});
