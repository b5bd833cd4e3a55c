import { pathOf, type Route } from "../route";

/** The address of a place on the page, for a link. */
export function href(route: Route): string {
  return `#${pathOf(route)}`;
}

/** Goes to a place on the page; the browser's back button comes back. */
export function go(route: Route): void {
  location.hash = pathOf(route);
}
