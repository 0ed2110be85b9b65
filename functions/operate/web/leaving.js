// Edits that are not kept anywhere yet: who leaves the page is asked first.
import { useEffect } from "./view.js";

const QUESTION = "There are edits that are not saved. Leave without them?";

export function useLeaving(isDirty) {
  useEffect(() => {
    if (!isDirty) return undefined;
    const here = location.hash;
    const stay = (event) => event.preventDefault();
    // Both come for one move, this one first; the router listens to both, so it must not hear either when one stays.
    const moved = (event) => {
      if (location.hash === here || confirm(QUESTION)) return leave();
      event.stopImmediatePropagation();
      history.replaceState(null, "", here);
      return undefined;
    };
    const leave = () => {
      if (location.hash === here) return;
      removeEventListener("popstate", moved, true);
      removeEventListener("hashchange", moved, true);
    };
    addEventListener("beforeunload", stay);
    addEventListener("popstate", moved, true);
    addEventListener("hashchange", moved, true);
    return () => {
      removeEventListener("beforeunload", stay);
      removeEventListener("popstate", moved, true);
      removeEventListener("hashchange", moved, true);
    };
  }, [isDirty]);
}
