import { expect, it } from "vitest";

import { words } from "./shell";

it.each<[string, string[] | undefined]>([
  ["", []],
  ["  python3  train.py\t--lr 1e-3 ", ["python3", "train.py", "--lr", "1e-3"]],
  [`sh -c 'echo "a b"; exit 1'`, ["sh", "-c", 'echo "a b"; exit 1']],
  [`a "" b`, ["a", "", "b"]],
  [`a\\ b "c\\"d" "e\\n" 'f\\g'`, ["a b", 'c"d', "e\\n", "f\\g"]],
  [`pre'fi'"x"`, ["prefix"]],
  [`$HOME *`, ["$HOME", "*"]],
  [`a 'b`, undefined],
  [`a \\`, undefined],
])("%s", (line, want) => expect(words(line)).toEqual(want));
