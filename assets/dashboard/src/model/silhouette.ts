import type * as api from "../api/types";
import type { Silhouette } from "../model";

/** The case of a computer, by what people call its model and else by the maker's identifier; generic where neither says. */
export function silhouetteOf(identity: api.Identity | undefined): Silhouette {
  const name = (identity?.model_name ?? "").toLowerCase();
  if (name.includes("studio")) return "studio";
  if (name.includes("mini")) return "mini";
  if (name.includes("book")) return "laptop";
  if (name.includes("imac")) return "imac";
  if (name.includes("mac pro")) return "tower";
  const model = (identity?.model ?? "").toLowerCase();
  if (model.startsWith("macbook")) return "laptop";
  if (model.startsWith("macmini")) return "mini";
  if (model.startsWith("imac")) return "imac";
  return identity?.platform === "linux" ? "server" : "generic";
}
