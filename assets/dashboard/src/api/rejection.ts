import type * as api from "./types";

/** A call that was refused or failed, with what can be acted on. */
export class Rejection extends Error {
  readonly code: number;
  readonly reason: api.Reason;
  readonly remedy: string | undefined;
  readonly causes: readonly api.Cause[];

  constructor(error: api.ResponseError) {
    super(error.message);
    this.name = "Rejection";
    this.code = error.code;
    this.reason = error.data?.reason ?? "internal";
    this.remedy = error.data?.remedy;
    this.causes = error.data?.causes ?? [];
  }

  /** What a call gets while there is no connection. */
  static lost(message = "The daemon does not answer at the moment."): Rejection {
    return new Rejection({ code: 6, message, data: { reason: "no_daemon", remedy: "The page connects again by itself." } });
  }

  /** Any error as one of these. */
  static of(error: unknown): Rejection {
    if (error instanceof Rejection) return error;
    return new Rejection({ code: 12, message: error instanceof Error ? error.message : String(error), data: { reason: "internal" } });
  }
}
