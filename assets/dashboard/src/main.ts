import "./style/tokens.css";
import "./style/base.css";

import { mount } from "svelte";

import { Session } from "./api/session";
import App from "./App.svelte";
import { openingOf, pathOf } from "./route";
import { Live } from "./state/live.svelte";

const opening = openingOf(location.hash);
if (opening.secret !== undefined) {
  // Out of the address and out of the history at once: it is nobody else's.
  history.replaceState(null, "", `#${pathOf(opening.route)}`);
}

const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1`;
const live = new Live(() => new WebSocket(address), new Session(sessionStorage, opening.secret));

mount(App, { target: document.getElementById("app")!, props: { live } });
live.start();
