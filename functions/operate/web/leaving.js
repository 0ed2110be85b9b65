// Edits that are not kept anywhere yet: who leaves the page is asked first.
import { guard } from "./router.js";
import { useEffect } from "./view.js";

const QUESTION = "There are edits that are not saved. Leave without them?";

export function useLeaving(isDirty) {
  useEffect(() => {
    if (!isDirty) return undefined;
    const stay = (event) => event.preventDefault();
    const lift = guard(() => confirm(QUESTION));
    addEventListener("beforeunload", stay);
    return () => {
      lift();
      removeEventListener("beforeunload", stay);
    };
  }, [isDirty]);
}
