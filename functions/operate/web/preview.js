// Shows what a template makes. This page has no origin, loads nothing and calls nobody; it takes HTML from the console alone.
addEventListener("message", (event) => {
  if (event.source !== parent || typeof event.data?.html !== "string") return;
  const made = new DOMParser().parseFromString(event.data.html, "text/html");
  for (const each of made.querySelectorAll("script, iframe, object, embed, base, meta[http-equiv]")) each.remove();
  const scheme = event.data.dark ? "dark" : "light";
  document.documentElement.style.colorScheme = scheme;
  document.documentElement.style.background = event.data.dark ? "#17191f" : "#ffffff";
  document.head.replaceChildren(...document.head.querySelectorAll("meta, title"), ...styles(made, scheme));
  document.body.replaceWith(document.adoptNode(made.body));
  tellHeight();
});

// A mail's own dark styles follow the frame's switch, not the reader's system.
function styles(made, scheme) {
  return [...made.querySelectorAll("head style")].map((each) => {
    each.textContent = each.textContent.replace(
      /prefers-color-scheme\s*:\s*(dark|light)/g,
      (_, wanted) => (wanted === scheme ? "min-width:0px" : "max-width:0px")
    );
    return document.adoptNode(each);
  });
}

function tellHeight() {
  parent.postMessage({ height: Math.max(document.documentElement.scrollHeight, document.body.scrollHeight) }, "*");
}

addEventListener("click", (event) => event.target.closest?.("a, area, button, input") && event.preventDefault(), true);
addEventListener("submit", (event) => event.preventDefault(), true);
addEventListener("resize", tellHeight);
parent.postMessage({ ready: true }, "*");
