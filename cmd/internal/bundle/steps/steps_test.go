package steps_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app/mac/goflags"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/steps"
)

// What is printed can be typed: a shell takes it for the same words.
func TestAStepIsPrintedAsAShellReadsIt(t *testing.T) {
	is := is.New(t)
	words := []string{"printf", "%s\\n", "plain", "two words", "it's", "", "$HOME", "a\"b", "*", "-Wl,-rpath,@executable_path/../Resources/mlx", "`id`", "~", "#x", "a=b", "=a", "[a]", "{a,b}", "!x"}
	out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", steps.Step{Command: words}.String()).Output()
	is.NoErr(err)
	is.Equal(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), words[2:])
	is.Equal(steps.Step{Command: []string{"a", "secret"}, Secret: []int{1}}.String(), "a ***")
}

func TestTeam(t *testing.T) {
	is := is.New(t)
	is.Equal(steps.Team("Developer ID Application: Ada Lovelace (ABCDE12345)"), "ABCDE12345")
	is.Equal(steps.Team("Developer ID Application: Ada (Sales) (ABCDE12345)"), "ABCDE12345")
	is.Equal(steps.Team("-"), "")
	is.Equal(steps.Team("Fulmen self-signed"), "")
}

// Whoever asks for entitlements has them signed in, and nobody else.
func TestEntitlementsAreSignedInWhereAskedFor(t *testing.T) {
	is := is.New(t)
	for _, step := range steps.Sign(steps.Paths{Root: "/src"}, steps.AdHoc, func(program string) bool { return program == "fulmend" }) {
		text := step.String()
		is.Equal(strings.Contains(text, "--entitlements /src/assets/entitlements/fulmend.plist"), strings.HasSuffix(text, "/MacOS/fulmend"))
	}
}

// Every program of the app is built, and linked as it is checked on Linux.
func TestBuild(t *testing.T) {
	is := is.New(t)
	list := steps.Build(steps.Paths{Root: "/src"})
	is.Equal(len(list), len(layout.Programs()))
	for n, name := range layout.Programs() {
		text := list[n].String()
		is.True(strings.HasSuffix(text, "/build/app/programs/"+name+" ./cmd/"+name))
		is.True(strings.Contains(text, "-linkmode=external")) // else it would be for macOS 12
		is.Equal(strings.Contains(text, "@executable_path/../Resources/mlx"), name == "fulmen-rank")
		is.Equal(strings.Contains(text, " "+goflags.Flag()+" "), name == "fulmen-app")
	}
}
