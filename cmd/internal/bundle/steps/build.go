package steps

import (
	"path/filepath"

	"fulmen/app/mac/goflags"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/darwincheck"
	"fulmen/daemon/api"
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
		command := []string{"go", "build", "-trimpath", "-ldflags", "-s -w " + checked[name].Linking()}
		if name == api.BundleExecutable {
			command = append(command, goflags.Flag())
		}
		command = append(command, "-o", filepath.Join(p.Programs(), name), "./cmd/"+name)
		steps = append(steps, Step{Why: "build " + name, Command: command})
	}
	return steps
}
