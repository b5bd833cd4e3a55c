package rules

import "testing"

// walkFiles is a small repository whose document draws one walk by these lines.
func walkFiles(rows string) map[string]string {
	return map[string]string{
		"docs/architecture.md": "# A\n\n| `gone.go` | `before` | the section |\n\n## Two walks\n\n### Short\n\n| file | by | what happens |\n| --- | --- | --- |\n" + rows +
			"\n### Other\n\n| `gone.go` | `other` | walk |\n\n## More\n\n### Short\n\n| `gone.go` | `after` | the section |\n",
		"a/a.go":          "package a\n\ntype T[E any] struct{}\n\nfunc (*T[E]) M() { local() }\n\nfunc F() {}\n\ntype I interface{ N() }\n\nconst C, D = 1, 2\n",
		"a/b.go":          "package a\n\nfunc (t U) M() {}\n",
		"native/x/x.c":    "static int put_it(int x) { return x; }\n// putty is only told of here\n",
		"app/x.svelte":    "",
		"a/testdata/t.go": "package t\n\nfunc T() {}\n",
	}
}

func TestWalksAreFollowed(t *testing.T) {
	short := func(most int) func(*Tree) ([]Problem, error) {
		return func(t *Tree) ([]Problem, error) { return walksOf(t, []walk{{"### Short", most}}) }
	}
	at := func(lines ...string) []string {
		var out []string
		for _, l := range lines {
			out = append(out, architecture+":"+l)
		}
		return out
	}
	const one, two = "| `a/a.go` | `F`, `T`, `T.M`, `I.N`, `D` | it goes |\n", "| `native/x/x.c` | `put_it` | and on |\n"
	runCases(t, []checkCase{
		{"as the code is", short(2), walkFiles(one + two + "\n2 files; and more\n"), nil},
		{"a file that is gone", short(2), walkFiles("| `a/gone.go` | `F` | it goes |\n\n1 files; \n"), at("11")},
		{"names that are not declared", short(1), walkFiles("| `a/a.go` | `F`, `local`, `T.N`, `U.M` | it goes |\n\n1 files; \n"), at("11", "11", "11")},
		{"a method without its type", short(1), walkFiles("| `a/a.go` | `M` | it goes |\n\n1 files; \n"), at("11")},
		{"a name of another file", short(1), walkFiles("| `a/b.go` | `U.M`, `F` | it goes |\n\n1 files; \n"), at("11")},
		{"a word of C that is no function", short(1), walkFiles("| `native/x/x.c` | `put_it`, `putty`, `put` | it goes |\n\n1 files; \n"), at("11", "11")},
		{"what is no name", short(1), walkFiles("| `a/a.go` | `F` and `D` | it goes |\n\n1 files; \n"), at("11")},
		{"a row without words", short(2), walkFiles(one + "| `native/x/x.c` | `put_it` | |\n\n1 files; \n"), at("12")},
		{"a file twice", short(2), walkFiles(one + one + "\n1 files; \n"), at("12")},
		{"a wrong count", short(2), walkFiles(one + two + "\n3 files; \n"), at("14")},
		{"no count", short(2), walkFiles(one), at("7")},
		{"a walk that has become longer", short(1), walkFiles(one + two + "\n2 files; \n"), at("7")},
		{"no walk", func(t *Tree) ([]Problem, error) { return walksOf(t, []walk{{"### Long", 1}}) }, walkFiles(one), at("0")},
	})
}
