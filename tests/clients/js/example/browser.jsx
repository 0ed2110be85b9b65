import { createRoot } from "react-dom/client";
import { App } from "./app.jsx";

const first = new URLSearchParams(location.search).get("first") ?? "good";
window.asked = [];
const nextToken = async (drawn) => (window.asked.push(drawn) === 1 ? first : "good");
createRoot(document.querySelector("main")).render(<App api={location.origin} nextToken={nextToken} />);
