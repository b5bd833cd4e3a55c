/**
 * The page's address. Everything is behind the #, which no server sees: first the
 * one-time secret with which the page is opened, then where on the page one is.
 *
 * @module
 */

/** Where on the page one is. */
export type Route =
  | { page: "cluster" }
  | { page: "node"; id: string }
  | { page: "link"; id: string }
  | { page: "run" }
  | { page: "jobs" }
  | { page: "job"; id: string }
  | { page: "models" }
  | { page: "instances" }
  | { page: "conditions" }
  | { page: "pairing" }
  | { page: "events" }
  | { page: "settings"; section?: string };

/** What the fragment with which the page was opened holds. */
export interface Opening {
  /** The one-time secret; absent where the page was opened without. */
  secret?: string;
  route: Route;
}

/** The route of a path such as /node/ID; what is not known is the cluster. */
export function routeOf(path: string): Route {
  const [, page = "", ...rest] = path.split("/");
  let id: string;
  try {
    id = decodeURIComponent(rest.join("/"));
  } catch {
    id = "";
  }
  switch (page) {
    case "node":
    case "link":
    case "job":
      return id ? { page, id } : { page: "cluster" };
    case "run":
    case "jobs":
    case "models":
    case "instances":
    case "conditions":
    case "pairing":
    case "events":
    case "settings":
      return { page };
    case "sharing":
      return { page: "settings", section: "sharing" };
    default:
      return { page: "cluster" };
  }
}

/** The path of a route; routeOf gives the route again. */
export function pathOf(route: Route): string {
  switch (route.page) {
    case "cluster":
      return "/";
    case "node":
    case "link":
    case "job":
      // A link's id has : and ~, which a fragment may hold as they are.
      return `/${route.page}/${encodeURIComponent(route.id).replaceAll("%3A", ":")}`;
    case "settings":
      return route.section === "sharing" ? "/sharing" : "/settings";
    default:
      return `/${route.page}`;
  }
}

/** Reads the fragment of an address, with or without its #: `secret=...&page=/path`, or a path. */
export function openingOf(fragment: string): Opening {
  const text = fragment.replace(/^#/, "");
  if (!text.startsWith("secret=")) return { route: routeOf(text) };
  const [first = "", ...rest] = text.split("&");
  const page = rest.find((part) => part.startsWith("page="))?.slice("page=".length) ?? "/";
  const secret = first.slice("secret=".length);
  return secret ? { secret, route: routeOf(page) } : { route: routeOf(page) };
}
