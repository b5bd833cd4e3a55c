package rules

import (
	"strings"
	"testing"
)

func TestMakefile(t *testing.T) {
	all := ".PHONY: help\nTOOLS := build\nX ::= y\nbuild/bin/x: a.go\n\tcc\nstamp.txt:\n\ttouch $@\n"
	for _, name := range makeTargets {
		all += name + ": build/bin/x ## do it\n\ttrue\n"
	}
	readme := "Type `make run`, or `make test`."
	runCases(t, []checkCase{
		{"complete", checkMakefile, map[string]string{"Makefile": all, "README.md": readme}, nil},
		{"help above the target", checkMakefile, map[string]string{
			"Makefile": strings.Replace(all, "soak: build/bin/x ## do it", "## do it\nsoak:", 1), "README.md": readme,
		}, nil},
		{"a target without help", checkMakefile, map[string]string{
			"Makefile": "extra: help\n\ttrue\n" + all, "README.md": readme,
		}, []string{"Makefile:1"}},
		{"a target that is missing", checkMakefile, map[string]string{
			"Makefile": strings.Replace(all, "soak:", "# soak:", 1), "README.md": readme,
		}, []string{"Makefile:0"}},
		{"no Makefile, and a README that does not tell", checkMakefile, map[string]string{
			"README.md": "Type `make run`.",
		}, []string{"Makefile:0", "README.md:0"}},
	})
}
