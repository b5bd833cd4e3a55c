/**
 * A page of drawings without a daemon: to look at, and to measure the boxes and
 * the time that the drawing takes. It is not a part of the dashboard.
 *
 * @module
 */

import { mount } from "svelte";

import "../../style/tokens.css";
import "../../style/base.css";
import Gallery from "./Gallery.svelte";

mount(Gallery, { target: document.getElementById("app")! });
