/**
 * The token of this tab. The secret that opened the page counts once and for half
 * a minute, so it is turned into a token at once; the token lives in the tab's
 * own storage, which ends with the tab, and nowhere else.
 *
 * @module
 */

/** The part of the browser's Storage that is used. */
export type Keep = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const key = "fulmen.token";

/** Who the page is to the daemon. */
export class Session {
  readonly #keep: Keep;
  #secret: string | undefined;

  constructor(keep: Keep, secret?: string) {
    this.#keep = keep;
    this.#secret = secret;
  }

  /** The call with which a connection begins; undefined where the page may not come in. */
  opening(): { method: "daemon.redeem_secret"; params: { secret: string } } | { method: "daemon.authenticate"; params: { token: string } } | undefined {
    if (this.#secret !== undefined) return { method: "daemon.redeem_secret", params: { secret: this.#secret } };
    const token = this.#keep.getItem(key);
    return token === null ? undefined : { method: "daemon.authenticate", params: { token } };
  }

  /** The opening call was answered: with a token where a secret was shown. */
  accepted(token?: string): void {
    this.#secret = undefined;
    if (token !== undefined) this.#keep.setItem(key, token);
  }

  /** The opening call was refused: what was shown does not count any more. A token from before may still. */
  refused(): void {
    if (this.#secret !== undefined) {
      this.#secret = undefined;
      return;
    }
    this.#keep.removeItem(key);
  }
}
