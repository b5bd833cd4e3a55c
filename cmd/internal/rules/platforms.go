package rules

import (
	"runtime"
	"slices"
)

// platforms are the systems whose code is checked, on whatever machine the check
// runs: GOOS, GOARCH.
var platforms = [][2]string{{"linux", "amd64"}, {"darwin", "arm64"}}

// needCgo are the packages that do not compile without a C compiler for their
// platform. They, and what depends on them, are checked on that platform only.
var needCgo = []string{
	"fulmen/mlxbridge/...", "fulmen/native/darwin/...", "fulmen/app/mac/...", "fulmen/app/tray/...",
}

// checkPlatforms type-checks and vets the code for the other platforms too, as
// far as that goes without their C compiler.
func checkPlatforms(t *Tree) ([]Problem, error) {
	var out []Problem
	for _, p := range platforms {
		if p[0] == runtime.GOOS {
			continue
		}
		packages, err := t.build(p[0], p[1])
		if err != nil {
			return nil, err
		}
		names := withoutCgo(packages)
		if len(names) == 0 {
			continue
		}
		env := []string{"GOOS=" + p[0], "GOARCH=" + p[1], "CGO_ENABLED=0"}
		if _, err := command(t.root, env, "go", append([]string{"vet"}, names...)...); err != nil {
			out = append(out, findings("GOOS="+p[0]+" GOARCH="+p[1]+" CGO_ENABLED=0 go vet", err.Error())...)
		}
	}
	return out, nil
}

// withoutCgo gives this module's packages that depend on none of needCgo.
func withoutCgo(packages map[string]*goPackage) []string {
	bound := layer{never: needCgo}
	var names []string
	for name, p := range packages {
		if p.own() && !matches(needCgo, p) && len(bound.check(packages, name)) == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
