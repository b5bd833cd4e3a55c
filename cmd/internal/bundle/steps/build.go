package steps

import (
	"path/filepath"

	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/darwincheck"
)

// Build gives the commands that build the programs of the app on a Mac. They are
// linked as Linux checks it, without paths of the machine and without tables for
// a debugger.
func Build(p Paths) []Step {
	checked := map[string]darwincheck.Program{}
	for _, program := range darwincheck.Programs() {
		checked[program.Name] = program
	}
	var steps []Step
	for _, name := range layout.Programs() {
		steps = append(steps, Step{Why: "build " + name, Command: []string{
			"go", "build", "-trimpath", "-ldflags", "-s -w " + checked[name].Linking(),
			"-o", filepath.Join(p.Programs(), name), "./cmd/" + name,
		}})
	}
	return steps
}
