package command

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/matryer/is"

	"fulmen/app"
	"fulmen/daemon/api"
)

// What is drawn fits the window, and says how much does not; keys end it, and elsewhere than
// on a terminal it does not begin.
func TestTop(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	is.Equal(r.app.Run(context.Background(), []string{"top"}), api.ExitUsage)
	is.True(strings.Contains(r.err.String(), "top draws on a terminal"))

	s := app.State{Daemon: app.DaemonRunning, Totals: api.Totals{Members: 9, Nodes: 9}}
	for i := range 9 {
		s.Nodes = append(s.Nodes, app.Node{NodeView: api.NodeView{Node: api.NodeID(fmt.Sprint(i)), ShortName: fmt.Sprintf("mac-%d", i), Liveness: api.LivenessAlive}})
	}
	var screen tea.Model = topScreen{run: &run{App: r.app}, state: func(time.Time) app.State { return s }}
	whole := strings.Count(screen.View(), "\n") + 1
	is.True(strings.Contains(screen.View(), "mac-8"))
	screen, command := screen.Update(tea.WindowSizeMsg{Width: 80, Height: 8})
	is.True(command == nil)
	shown := strings.Split(screen.View(), "\n")
	is.Equal(len(shown), 7)
	is.Equal(shown[6], fmt.Sprintf("... %d lines more: make the window taller", whole-6))
	_, command = screen.Update(draw{})
	is.True(command != nil)
	for _, key := range []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune("q")}, {Type: tea.KeyCtrlC}, {Type: tea.KeyEsc}} {
		_, command = screen.Update(key)
		is.Equal(command(), tea.Quit())
	}
	_, command = screen.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x")})
	is.True(command == nil)
}
