package rules

import (
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// makeTargets are the commands that the README and people's fingers rely on.
var makeTargets = []string{
	"help", "deps", "build", "run", "test", "race", "fuzz", "lint", "generate", "check",
	"app", "sign", "notarize", "dmg", "pkg", "release", "app-check", "bench", "soak", "clean",
}

// readmeCommands are what a newcomer types first.
var readmeCommands = []string{"make run", "make test"}

// targetLine matches the rule of a command. Names with a slash, a dot or a
// variable are files that are built, which need no help.
var targetLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)\s*:(?:[^=:].*)?$`)

var helpText = regexp.MustCompile(`\s##\s+\S`)

// checkMakefile wants every command there, explained, and listed by make help.
func checkMakefile(t *Tree) ([]Problem, error) {
	out, err := explained(t)
	if err != nil || t.root == "" || !t.has("Makefile") {
		return out, err
	}
	if _, err := exec.LookPath("make"); err != nil {
		return append(out, Problem{File: "Makefile", What: "make is not installed", Remedy: "install make"}), nil
	}
	text, err := command(t.root, nil, "make", "-s", "--no-print-directory", "help")
	if err != nil {
		return append(out, Problem{File: "Makefile", What: err.Error(), Remedy: "mend the help target"}), nil
	}
	words := strings.Fields(text)
	for _, name := range makeTargets {
		if !slices.Contains(words, name) {
			out = append(out, Problem{File: "Makefile", What: "make help does not list " + name, Remedy: "give the target a ## line that help reads"})
		}
	}
	return out, nil
}

// explained checks the text of Makefile and README.
func explained(t *Tree) ([]Problem, error) {
	var out []Problem
	if !t.has("Makefile") {
		out = append(out, Problem{File: "Makefile", What: "is missing", Remedy: "write it, with the targets " + strings.Join(makeTargets, " ")})
	} else {
		lines, err := t.lines("Makefile")
		if err != nil {
			return nil, err
		}
		out = append(out, targets(lines)...)
	}
	text, err := readme(t)
	if err != nil {
		return nil, err
	}
	for _, c := range readmeCommands {
		if !strings.Contains(text, c) {
			out = append(out, Problem{File: "README.md", What: "does not say " + c, Remedy: "tell a newcomer to type it, and what happens then"})
		}
	}
	return out, nil
}

// readme gives the text of README.md, or nothing where there is none.
func readme(t *Tree) (string, error) {
	if !t.has("README.md") {
		return "", nil
	}
	text, err := t.read("README.md")
	return string(text), err
}

// targets checks the rules of a Makefile. The ## text stands on the target's own
// line or right above it.
func targets(lines []line) []Problem {
	var out []Problem
	found := map[string]bool{}
	for i, l := range lines {
		m := targetLine.FindStringSubmatch(l.text)
		if m == nil {
			continue
		}
		found[m[1]] = true
		above := i > 0 && strings.HasPrefix(lines[i-1].text, "## ")
		if !above && !helpText.MatchString(l.text) {
			out = append(out, Problem{
				File: "Makefile", Line: l.no, What: "target " + path.Base(m[1]) + " has no help",
				Remedy: "end the line with ## and what the target does",
			})
		}
	}
	for _, name := range makeTargets {
		if !found[name] {
			out = append(out, Problem{File: "Makefile", What: "has no target " + name, Remedy: "add it, with a ## line"})
		}
	}
	return out
}

// checkWorkflows reads the workflows with the actionlint that go.mod pins: keys,
// expressions, the names of machines, what jobs need of each other. Tools that a
// machine may have or lack are not asked for more.
func checkWorkflows(t *Tree) ([]Problem, error) {
	args := []string{"tool", "actionlint", "-no-color", "-oneline", "-shellcheck=", "-pyflakes="}
	plain := len(args)
	for _, name := range t.files {
		if !isWorkflow(name) {
			continue
		}
		if _, err := t.read(name); err != nil { // read here too, so that a cached result of the test ends when it changes
			return nil, err
		}
		args = append(args, name)
	}
	if len(args) == plain {
		return nil, nil
	}
	return t.goTool(args...)
}

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
