package command

import (
	"context"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// What goes to a terminal has its width and colors; what goes elsewhere has neither, unless
// somebody asks for it.
func TestScreen(t *testing.T) {
	for _, one := range []struct {
		name       string
		isTerminal bool
		env, args  string
		fits, hues bool
	}{
		{"a terminal", true, "", "", true, true},
		{"a file", false, "", "", false, false},
		{"NO_COLOR", true, "NO_COLOR=1", "", true, false},
		{"a terminal without colors", true, "TERM=dumb", "", true, false},
		{"never", true, "", "--color=never", true, false},
		{"always", false, "", "--color=always", false, true},
		{"always goes before NO_COLOR", true, "NO_COLOR=1", "--color=always", true, true},
		{"wide", true, "", "--wide", false, true},
	} {
		t.Run(one.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.app.Screen, r.app.Columns = one.isTerminal, func() int { return 40 }
			getenv := r.app.Environment.Getenv
			r.app.Environment.Getenv = func(name string) string {
				if value, ok := strings.CutPrefix(one.env, name+"="); ok {
					return value
				}
				return getenv(name)
			}
			is.Equal(r.app.Run(context.Background(), append([]string{"peers"}, strings.Fields(one.args)...)), api.ExitOK)
			head, _, _ := strings.Cut(r.out.String(), "\n")
			is.Equal(!strings.Contains(head, "ADDED"), one.fits)
			is.Equal(strings.Contains(head, "\x1b[1m"), one.hues)
			is.Equal(strings.Contains(r.out.String(), "\x1b[32malive\x1b[0m"), one.hues)
		})
	}
}

func TestMistyped(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	is.Equal(r.app.Run(context.Background(), []string{"stauts"}), api.ExitUsage)
	is.Equal(r.err.String(), "fulmen: unknown command \"stauts\" for \"fulmen\"\n  Did you mean status or start? See: fulmen help\n")
	r = newRig(t, "")
	is.Equal(r.app.Run(context.Background(), []string{"nodes", "--color", "pink"}), api.ExitUsage)
	is.Equal(r.err.String(), "fulmen: --color is auto, always or never, not \"pink\"\n  See: fulmen help\n")
}
