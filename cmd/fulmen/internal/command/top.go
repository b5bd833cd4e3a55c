package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"fulmen/app"
	"fulmen/app/live"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/client"
)

func (r *run) topCommand() *cobra.Command {
	return &cobra.Command{
		Use: "top", Short: "Watch the Macs, their cables and the jobs", Args: cobra.NoArgs,
		Long:    "Draws GPU, memory, power and heat of every Mac, the cables, and the jobs, once a second, until q or Ctrl-C.",
		Example: "  fulmen top",
		RunE:    func(c *cobra.Command, _ []string) error { return r.top(c.Context()) },
	}
}

// topEvery is how often it is drawn: the pace at which power and use move.
const topEvery = time.Second

func (r *run) top(ctx context.Context) error {
	if r.json || !r.Screen || !r.InTerminal {
		return usage("top draws on a terminal; for scripts there are fulmen status --json and fulmen watch")
	}
	c, err := r.connect(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	followed := make(chan struct{})
	follower := live.New(live.Options{Dial: func(context.Context) (*client.Client, error) { return c, nil }, Version: r.Version, Changed: func() {}})
	follower.Look(true, app.TitleNothing)
	go func() {
		defer close(followed)
		follower.Run(ctx)
	}()
	defer func() {
		stop()
		<-followed
	}()
	_, err = tea.NewProgram(topScreen{run: r, state: follower.State}, tea.WithAltScreen(), tea.WithContext(ctx), tea.WithInput(r.In), tea.WithOutput(r.Out)).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil // the end that was asked for
	}
	return err
}

// topScreen is what is drawn.
type topScreen struct {
	*run
	state func(now time.Time) app.State
	rows  int // of the terminal
}

// draw has it drawn again.
type draw struct{}

func next() tea.Cmd { return tea.Tick(topEvery, func(time.Time) tea.Msg { return draw{} }) }

// Init is bubbletea's.
func (t topScreen) Init() tea.Cmd { return next() }

// Update is bubbletea's.
func (t topScreen) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch m := message.(type) {
	case draw:
		return t, next()
	case tea.WindowSizeMsg:
		t.rows = m.Height
	case tea.KeyMsg:
		if key := m.String(); key == "q" || key == "ctrl+c" || key == "esc" {
			return t, tea.Quit
		}
	}
	return t, nil
}

// View is bubbletea's. What does not fit is counted: the last lines are the jobs.
func (t topScreen) View() string {
	page := show.Page{Screen: t.screen(t.Out)}
	t.view().Top(&page, t.state(t.Now()))
	lines := strings.Split(strings.TrimSuffix(page.String(), "\n"), "\n")
	if left := len(lines) - (t.rows - 1); t.rows > 1 && left > 0 {
		lines = append(lines[:t.rows-2], fmt.Sprintf("... %d lines more: make the window taller", left+1))
	}
	return strings.Join(lines, "\n")
}
