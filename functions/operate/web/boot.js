// Loads the console a few files at a time, and again when the service is busy: a function has only so many places, and a browser would
// ask for all modules at once and give up on the first that is refused. What was fetched is in the browser's cache for a year.
globalThis.tocsinFiles = (() => {
  const AT_ONCE = 3;
  const TRIES = 6;
  const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^"';]*?\bfrom\s*"\.\/([\w.-]+\.js)"/g;
  const root = new URL(".", document.currentScript.src);
  const known = new Map();
  const waiting = [];
  let running = 0;

  const turn = () => new Promise((go) => (running < AT_ONCE ? (running++, go()) : waiting.push(go)));
  const done = () => (waiting.length ? waiting.shift()() : running--);

  async function text(name) {
    await turn();
    try {
      for (let tried = 1; ; tried++) {
        const answer = await fetch(new URL(name, root)).catch(() => null);
        if (answer?.ok) return await answer.text();
        if (tried === TRIES || (answer && answer.status < 429)) throw new Error(`${name} cannot be loaded just now.`);
        await new Promise((go) => setTimeout(go, 200 * 2 ** tried));
      }
    } finally {
      done();
    }
  }

  /** The file and whatever it imports; what failed may be asked for again. */
  function fetched(name) {
    if (!known.has(name)) {
      const coming = text(name).then((source) => {
        const further = [...source.matchAll(IMPORT)].map(([, each]) => each).filter((each) => !known.has(each));
        return Promise.all(further.map(fetched));
      });
      known.set(name, coming);
      coming.catch(() => known.delete(name));
    }
    return known.get(name);
  }

  return { fetched, root };
})();

tocsinFiles
  .fetched("app.js")
  .then(() => import(new URL("app.js", tocsinFiles.root)))
  .catch((error) => {
    const place = document.querySelector("#app p");
    place.textContent = `The console does not load: ${error.message} Reload the page to try again.`;
    place.setAttribute("role", "alert");
  });
