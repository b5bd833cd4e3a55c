package steps

import (
	"path/filepath"
	"regexp"

	"fulmen/cmd/internal/bundle/layout"
)

// AdHoc is the identity of whoever has none: the app starts on the Mac that it
// was built on, and nobody vouches for it.
const AdHoc = "-"

// teamOf matches the team in the name of a Developer ID.
var teamOf = regexp.MustCompile(`\(([A-Z0-9]{10})\)$`)

// Team is the team in an identity such as "Developer ID Application: Ada (ABCDE12345)";
// empty where it has none.
func Team(identity string) string {
	if m := teamOf.FindStringSubmatch(identity); m != nil {
		return m[1]
	}
	return ""
}

// Sign gives the commands that sign the app, innermost first, and then look at
// the result. Asks says whether a program asks for entitlements: a file that asks
// for none is not signed in. An ad-hoc signature is without the hardened runtime,
// which would refuse MLX's libraries for having no team.
func Sign(p Paths, identity string, asks func(program string) bool) []Step {
	var steps []Step
	for _, file := range layout.Signatures() {
		name, path := file.Path, filepath.Join(p.Bundle(), "Contents", file.Path)
		if name == "" {
			name, path = "the app", p.Bundle()
		}
		command := append(codesign(identity), "--identifier", file.Identifier)
		if identity != AdHoc {
			command = append(command, "--options", "runtime")
		}
		if file.Entitlements != "" && asks(file.Entitlements) {
			command = append(command, "--entitlements", p.Entitlements(file.Entitlements))
		}
		steps = append(steps, Step{Why: "sign " + name, Command: append(command, path)})
	}
	return append(steps, Step{Why: "check the signatures", Command: []string{"codesign", "--verify", "--deep", "--strict", "--verbose=2", p.Bundle()}})
}

// codesign begins a command that signs. A signature with a time from Apple stays
// valid after the certificate has ended; an ad-hoc one has none.
func codesign(identity string) []string {
	stamp := "--timestamp"
	if identity == AdHoc {
		stamp = "--timestamp=none"
	}
	return []string{"codesign", "--force", stamp, "--sign", identity}
}
