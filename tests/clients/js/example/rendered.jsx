import { renderToString } from "react-dom/server";
import { App } from "./app.jsx";

console.log(renderToString(<App api="https://notify.example.com" nextToken={() => "secret"} />));
