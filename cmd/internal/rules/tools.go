package rules

import (
	"regexp"
	"strconv"
	"strings"
)

// mlxFolder is where the build finds MLX.
const mlxFolder = "build/mlx/current"

// finding matches what Go tools write about a place: file:line:column: text.
var finding = regexp.MustCompile(`^(?:vet: )?(?:\./)?([^\s:]+):(\d+)(?::\d+)?: (.+)$`)

// checkVet runs go vet on every package that builds here.
func checkVet(t *Tree) ([]Problem, error) {
	return t.goTool("vet", "./...")
}

// checkStaticcheck runs the staticcheck that go.mod pins, with its own choice of
// checks.
func checkStaticcheck(t *Tree) ([]Problem, error) {
	return t.goTool("tool", "staticcheck", "./...")
}

// goTool runs the go command and turns what it says into problems.
func (t *Tree) goTool(args ...string) ([]Problem, error) {
	if p := t.mlxMissing(); p != nil {
		return p, nil
	}
	// Without it a third of the time of such a tool is the collection of garbage.
	_, err := command(t.root, []string{"GOGC=400"}, "go", args...)
	if err == nil {
		return nil, nil
	}
	return findings("go "+strings.Join(args, " "), err.Error()), nil
}

// mlxMissing says what to do where the packages that bind MLX cannot compile.
func (t *Tree) mlxMissing() []Problem {
	if !t.hasGo("mlxbridge") || t.has(mlxFolder) {
		return nil
	}
	return []Problem{{File: mlxFolder, What: "is missing, so nothing that binds MLX compiles", Remedy: "run make deps"}}
}

// findings reads the output of a tool that failed. Output that names no place is
// one problem as a whole, so that no failure is lost.
func findings(tool, output string) []Problem {
	var out []Problem
	for l := range strings.Lines(output) {
		m := finding.FindStringSubmatch(strings.TrimRight(l, "\r\n"))
		if m == nil {
			continue
		}
		no, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		out = append(out, Problem{File: m[1], Line: no, What: m[3], Remedy: "mend it; seen by " + tool})
	}
	if len(out) == 0 {
		out = append(out, Problem{What: strings.TrimSpace(output), Remedy: "make " + tool + " succeed"})
	}
	return out
}

// checkTidy compares go.mod and go.sum with what the packages import.
func checkTidy(t *Tree) ([]Problem, error) {
	t.has("go.sum") // asked for here, so that a cached result of the test ends when it changes
	if _, err := command(t.root, nil, "go", "mod", "tidy", "-diff"); err != nil {
		return []Problem{{File: "go.mod", What: err.Error(), Remedy: "run go mod tidy"}}, nil
	}
	return nil, nil
}
