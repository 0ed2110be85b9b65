// Loading: what is shown stays while it is asked for again, so that nothing flickers; nothing is asked while nobody looks.
import { useCallback, useEffect, useRef, useState } from "./view.js";

/** `{data, error, isLoading, at, refresh}` of what `load(signal)` gives; again after `seconds`, and whenever `deps` change. */
export function useLoaded(load, deps = [], { seconds = 0 } = {}) {
  const [state, setState] = useState({ data: undefined, error: null, isLoading: true, at: null });
  const latest = useRef(0);
  const loader = useRef(load);
  loader.current = load;

  const refresh = useCallback(async () => {
    const turn = ++latest.current;
    const abort = new AbortController();
    refresh.abort?.abort();
    refresh.abort = abort;
    try {
      const data = await loader.current(abort.signal);
      if (turn === latest.current) setState({ data, error: null, isLoading: false, at: Date.now() });
    } catch (error) {
      if (turn === latest.current && error.name !== "AbortError") setState((old) => ({ ...old, error, isLoading: false }));
    }
  }, []);

  useEffect(() => {
    setState((old) => ({ ...old, isLoading: true, error: null }));
    refresh();
    if (!seconds) return () => refresh.abort?.abort();
    let timer;
    let isOver = false;
    const again = async () => {
      if (!document.hidden) await refresh();
      if (!isOver) timer = setTimeout(again, seconds * 1000); // the page may have been left while it was asked for
    };
    timer = setTimeout(again, seconds * 1000);
    const back = () => document.hidden || refresh();
    document.addEventListener("visibilitychange", back);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", back);
      latest.current++;
      refresh.abort?.abort();
    };
  }, deps);

  return { ...state, refresh };
}

/** A clock for what is written relative to now. */
export function useNow(seconds = 10) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return now;
}
