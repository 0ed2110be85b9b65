// Before the first paint: light or dark, as chosen here or as the system has it.
try {
  const chosen = localStorage.getItem("tocsin-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // no storage: the system's choice holds
}
