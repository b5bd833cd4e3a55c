import { describe, expect, it } from "vitest";

import { disableRDMA, enableRDMA, enterCode, quoted, remedyOf, setAside, share } from "./actions";
import { methodClasses } from "./api/types";

const link = "0123456789abcdef:1~fedcba9876543210:3";

describe("what needs an administrator", () => {
  it("is a link for the app and the command that does the same", () => {
    expect(enableRDMA(link)).toMatchObject({ link: `fulmen:rdma.enable?links=${link}`, command: `fulmen rdma enable ${link}` });
    expect(disableRDMA(link).link).toBe(`fulmen:rdma.disable?links=${link}`);
    expect(enterCode("0123456789abcdef")).toMatchObject({ link: "fulmen:cluster.answer?node=0123456789abcdef", command: "fulmen pair --answer 0123456789abcdef" });
    expect(setAside("0123456789abcdef", "ignored")).toMatchObject({ link: "fulmen:cluster.answer?node=0123456789abcdef&state=ignored", command: "fulmen pending ignore 0123456789abcdef" });
    expect(share("nobody").command).toBe("fulmen sharing set jobs=nobody");
  });

  it.each([["a", "a"], ["train.py", "train.py"], ["a b", "'a b'"], ["it's", `'it'\\''s'`], ["$(x)", "'$(x)'"], ["", "''"]])("quotes %s", (word, want) => expect(quoted(word)).toBe(want));
});

describe("the one thing to do about a condition", () => {
  it.each([
    [{ kind: "method", label: "Measure", target: "measure.gpu" }, "call"],
    [{ kind: "method", label: "Enable", target: "rdma.enable", params: { links: link } }, "admin"],
    [{ kind: "docs", label: "Read", target: "https://example.org/" }, "open"],
    [{ kind: "settings", label: "Open", target: "x-apple.systempreferences:com.apple.Sharing" }, "open"],
    [{ kind: "command", label: "Show", target: "fulmen config" }, "command"],
    [{ kind: "docs", label: "Read", target: "javascript:alert(1)" }, undefined],
    [{ kind: "method", label: "?", target: "no.such" }, undefined],
    [{ kind: "later", label: "?", target: "x" }, undefined],
  ] as const)("%o is %s", (action, want) => expect(remedyOf(action as never, methodClasses)?.kind).toBe(want));
});
