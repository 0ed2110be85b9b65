// The view layer: Preact's components and hooks, written as htm's tagged templates.
import htm from "./vendor-htm.js";
import { h } from "./vendor-preact.js";

export { Component, createContext, Fragment, render } from "./vendor-preact.js";
export { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor-preact-hooks.js";
export const html = htm.bind(h);
