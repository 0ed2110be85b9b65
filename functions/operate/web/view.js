// The view layer: Preact's components and hooks with htm's tagged templates, from one vendored file.
export {
  Component,
  createContext,
  html,
  render,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "./vendor-preact-htm.js";
