// Who is here: a key that lives in this module's memory and nowhere else, what it may do, and the name that the audit log gets.
const IDLE_MINUTES = 30;
const WARN_MINUTES = 1;
const PERSON = "tocsin-person";

const listeners = new Set();
let state = { key: null, me: null, person: remembered(), why: "", isEnding: false };
let lastActive = Date.now();

export const current = () => state;
export const can = (scope) => Boolean(state.me?.key.scopes.includes(scope));
export const isInstallation = () => Boolean(state.me?.tenant.is_installation);

export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function signIn(key, me, person) {
  lastActive = Date.now();
  try {
    localStorage.setItem(PERSON, person);
  } catch {
    // asked again next time
  }
  change({ key, me, person, why: "", isEnding: false });
}

export function signOut(why = "") {
  if (state.key) change({ key: null, me: null, why, isEnding: false });
}

function change(changes) {
  state = { ...state, ...changes };
  for (const each of listeners) each(state);
}

function remembered() {
  try {
    return localStorage.getItem(PERSON) ?? "";
  } catch {
    return "";
  }
}

/** A session ends after half an hour in which nobody did anything; refreshing numbers is nothing done. */
export function watchIdleness(now = () => Date.now()) {
  const active = () => {
    lastActive = now();
    if (state.isEnding) change({ isEnding: false });
  };
  const look = () => {
    if (!state.key) return;
    const minutes = (now() - lastActive) / 60_000;
    if (minutes >= IDLE_MINUTES) signOut(`You were signed out after ${IDLE_MINUTES} minutes without a touch.`);
    else if (minutes >= IDLE_MINUTES - WARN_MINUTES && !state.isEnding) change({ isEnding: true });
  };
  for (const kind of ["pointerdown", "keydown", "wheel", "touchstart"]) addEventListener(kind, active, { passive: true, capture: true });
  document.addEventListener("visibilitychange", look);
  const timer = setInterval(look, 5_000);
  return { look, stop: () => clearInterval(timer) };
}
