//go:build linux

package freedesktop

import (
	"context"
	"errors"
	"html"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"fulmen/app"
	"fulmen/app/browser"
	"fulmen/daemon/api"
)

// Shell asks and tells on a Linux desktop.
type Shell struct {
	bus    *dbus.Conn
	closed chan struct{}
	opened sync.WaitGroup // addresses that the browser may not have yet

	mu    sync.Mutex
	shown map[string]uint32 // the desktop's number of each notification, by its id
}

// New makes the shell over the session's bus; to be closed.
func New(bus *dbus.Conn) *Shell {
	return &Shell{bus: bus, closed: make(chan struct{}), shown: map[string]uint32{}}
}

// Confirm asks a question.
func (s *Shell) Confirm(ctx context.Context, q app.Confirm) bool {
	_, err := zenity(ctx, "--question", "--no-markup", "--title=Fulmen", "--ok-label="+q.Button, "--text="+q.Title+"\n\n"+q.Text)
	return err == nil
}

// Ask asks for a line of text.
func (s *Shell) Ask(ctx context.Context, q app.Question) (string, bool) {
	answer, err := zenity(ctx, "--entry", "--title="+q.Title, "--text="+q.Text, "--entry-text="+q.Answer)
	return strings.TrimRight(answer, "\r\n"), err == nil
}

// Show shows a text, and a code in large letters.
func (s *Shell) Show(ctx context.Context, title, text, code string) {
	markup := html.EscapeString(text)
	if code != "" {
		markup += "\n\n<span size='300%'><tt>" + html.EscapeString(code) + "</tt></span>"
	}
	_, _ = zenity(ctx, "--info", "--title="+title, "--text="+markup) // put away, or no zenity: nothing to be done
}

// Choose shows a text with buttons. Zenity prints which of the others was
// pressed; for the first one it ends well.
func (s *Shell) Choose(ctx context.Context, title, text string, choices []string) int {
	args := []string{"--question", "--no-markup", "--title=" + title, "--text=" + text, "--cancel-label=Close"}
	for i, c := range choices {
		if i == 0 {
			args = append(args, "--ok-label="+c)
		} else {
			args = append(args, "--extra-button="+c)
		}
	}
	pressed, err := zenity(ctx, args...)
	if at := slices.Index(choices, strings.TrimRight(pressed, "\r\n")); at >= 0 {
		return at
	}
	if err == nil && len(choices) > 0 {
		return 0
	}
	return -1
}

// Failed says that something did not work; without zenity as a notification.
func (s *Shell) Failed(ctx context.Context, title, text string) {
	if _, err := zenity(ctx, "--error", "--no-markup", "--title=Fulmen", "--text="+title+"\n\n"+text); errors.Is(err, exec.ErrNotFound) {
		s.Notify(ctx, app.Notice{ID: "failed", Title: title, Text: text})
	}
}

// zenity shows a dialog and gives what was entered; an error where it was put
// away, or where there is no zenity.
func zenity(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "zenity", args...)
	c.WaitDelay = time.Second
	out, err := c.Output()
	return string(out), err
}

// Notify shows a notification; one with the same id replaces the last.
func (s *Shell) Notify(ctx context.Context, n app.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var number uint32
	err := s.bus.Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications").CallWithContext(ctx,
		"org.freedesktop.Notifications.Notify", 0, "Fulmen", s.shown[n.ID], "", n.Title, n.Text, []string{}, map[string]dbus.Variant{}, int32(-1)).Store(&number)
	if err == nil { // a desktop without notifications shows none
		s.shown[n.ID] = number
	}
}

// Open opens an address in the person's browser, which has as long to follow it as
// a link to the dashboard counts.
func (s *Shell) Open(ctx context.Context, address string) error {
	done, err := browser.Open(ctx, address)
	if err != nil {
		return err
	}
	s.opened.Go(func() {
		defer done()
		timer := time.NewTimer(api.BrowserSecretTTL)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.closed:
		}
	})
	return nil
}

// Close takes back what was opened last.
func (s *Shell) Close() {
	close(s.closed)
	s.opened.Wait()
}

// Copy puts a text on the clipboard.
func (s *Shell) Copy(ctx context.Context, text string) error {
	for _, tool := range [][]string{{"wl-copy"}, {"xclip", "-selection", "clipboard"}, {"xsel", "--clipboard", "--input"}} {
		c := exec.CommandContext(ctx, tool[0], tool[1:]...)
		c.Stdin = strings.NewReader(text)
		if err := c.Run(); !errors.Is(err, exec.ErrNotFound) {
			return err
		}
	}
	return errors.New("the clipboard cannot be used: install wl-clipboard or xclip")
}

// Authorize has nothing to show: on Linux root and the group fulmen administer.
func (s *Shell) Authorize(context.Context) ([]byte, error) {
	return nil, errors.New("only root and members of the group fulmen may do this: sudo usermod -aG fulmen $USER")
}

// Do has nothing to do: services are systemd's.
func (s *Shell) Do(_ context.Context, what app.AppDo) error {
	if what == app.AppStart {
		return errors.New("start it with: sudo systemctl start fulmend")
	}
	return errors.New("only macOS can do this")
}

// Setup is in order: a package manager installs.
func (s *Shell) Setup() app.Setup { return app.SetupGood }

// LaunchesAtLogin is not managed.
func (s *Shell) LaunchesAtLogin() bool { return false }

// Changed never has a token.
func (s *Shell) Changed() <-chan struct{} { return nil }
