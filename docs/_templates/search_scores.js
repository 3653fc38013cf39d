/* The order of search results: Sphinx's scores, but a page of the guide that is named after what is searched for comes
   before names of the reference. */
const isGuideTo = (docname, title) => {
  const words = (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
  return !docname.includes("/") && words.length > 0 && words.every((word) => title.toLowerCase().includes(word));
};

var Scorer = {
  score: ([docname, title, , , score]) => (isGuideTo(docname, title) ? score + 50 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
