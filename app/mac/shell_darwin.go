package mac

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/progrium/darwinkit/macos/appkit"
	"github.com/progrium/darwinkit/macos/foundation"

	"fulmen/app"
	"fulmen/app/mac/authorization"
	"fulmen/daemon/api"
	"fulmen/native/waker"
)

const (
	// wasEnabledKey is the app's default that remembers an approval, so that one
	// that was withdrawn is told from one that was never given.
	wasEnabledKey = "DaemonWasEnabled"
	// looksAgain is how often the registration is asked about while it keeps Fulmen
	// from working: the system announces nothing of it.
	looksAgain = 2 * time.Second
	// isStale is how old what is known of the registration may be when it is asked for.
	isStale = 5 * time.Second
)

// Shell asks and tells on a Mac.
type Shell struct {
	quit    func()
	changed waker.Waker
	rights  authorization.Authority

	mu     sync.Mutex
	facts  facts
	logsIn bool
	at     time.Time
}

// New makes the shell of the app; quit ends the app, where another copy of it
// takes over. It looks after the registration until ctx ends.
func New(ctx context.Context, quit func()) *Shell {
	s := &Shell{quit: quit, changed: waker.New()}
	program, err := os.Executable()
	if err == nil {
		s.facts.bundle = bundleOf(program)
	}
	s.facts.system = systemVersion()
	go s.watch(ctx)
	return s
}

// watch looks again while something is to be done about the setup.
func (s *Shell) watch(ctx context.Context) {
	// SMAppService announces nothing, so that an approval is looked for.
	tick := time.NewTicker(looksAgain)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.mu.Lock()
			isWell := s.at.IsZero() || s.facts.setup() == app.SetupGood
			s.mu.Unlock()
			if !isWell {
				onMain(s.look)
			}
		case <-ctx.Done():
			return
		}
	}
}

// look finds out how the registrations stand. It runs on the main thread.
func (s *Shell) look() {
	daemon, login := daemonService().status(), loginService().status()
	defaults := foundation.UserDefaults_StandardUserDefaults()
	was := asks(defaults, "boolForKey:", wasEnabledKey)
	if daemon == enabled && !was {
		do(defaults, "setBool:forKey:", true, wasEnabledKey)
		was = true
	}
	_, err := os.Stat(packagePlist)
	isPersons := s.facts.bundle.isPersons(ownerOf) // the bundle never changes
	s.mu.Lock()
	before, loggedIn := s.facts, s.logsIn
	s.facts.daemon, s.facts.wasEnabled, s.facts.hasPackage, s.facts.isPersons, s.logsIn, s.at = daemon, was, err == nil, isPersons, login == enabled, time.Now()
	isNew := before != s.facts || loggedIn != s.logsIn
	s.mu.Unlock()
	if isNew {
		s.changed.Wake()
	}
}

// Setup is how the app is installed, as far as it is known; asking has it looked
// at again.
func (s *Shell) Setup() app.Setup {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) > isStale {
		s.at = time.Now()
		onMain(s.look)
	}
	return s.facts.setup()
}

// LaunchesAtLogin reports whether the app is opened at login.
func (s *Shell) LaunchesAtLogin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logsIn
}

// Changed has a token when Setup or LaunchesAtLogin may give something else.
func (s *Shell) Changed() <-chan struct{} { return s.changed }

// Confirm asks a question.
func (s *Shell) Confirm(ctx context.Context, q app.Confirm) bool {
	return dialog{title: q.Title, text: q.Text, buttons: []string{q.Button, "Cancel"}}.ask(ctx).button == 0
}

// Ask asks for a line of text.
func (s *Shell) Ask(ctx context.Context, q app.Question) (string, bool) {
	a := dialog{title: q.Title, text: q.Text, buttons: []string{"OK", "Cancel"}, asks: true, hint: q.Hint, typed: q.Answer}.ask(ctx)
	return a.text, a.button == 0
}

// Show shows a text, and a code in large letters.
func (s *Shell) Show(ctx context.Context, title, text, code string) {
	dialog{title: title, text: text, buttons: []string{"Close"}, code: code}.ask(ctx)
}

// Choose shows a text with buttons.
func (s *Shell) Choose(ctx context.Context, title, text string, choices []string) int {
	a := dialog{title: title, text: text, buttons: append(append([]string{}, choices...), "Close")}.ask(ctx)
	if a.button == len(choices) {
		return -1
	}
	return a.button
}

// Failed says that something did not work.
func (s *Shell) Failed(ctx context.Context, title, text string) {
	dialog{title: title, text: text, buttons: []string{"Close"}, isGrave: true}.ask(ctx)
}

// Notify shows a notification.
func (s *Shell) Notify(_ context.Context, n app.Notice) { onMain(func() { notify(n) }) }

// Open opens a page, or a pane of the settings.
func (s *Shell) Open(ctx context.Context, address string) error {
	if !mayOpen(address) {
		return fmt.Errorf("Fulmen does not open %s", address)
	}
	opened, waited := fromMain(ctx, func() bool {
		return asks(appkit.Workspace_SharedWorkspace(), "openURL:", foundation.URL_URLWithString(address))
	})
	if !opened && waited {
		return fmt.Errorf("macOS cannot open %s", address)
	}
	return ctx.Err()
}

// Copy puts a text on the clipboard.
func (s *Shell) Copy(ctx context.Context, text string) error {
	copied, waited := fromMain(ctx, func() bool {
		board := appkit.Pasteboard_GeneralPasteboard()
		board.ClearContents()
		return asks(board, "setString:forType:", text, string(appkit.PasteboardTypeString))
	})
	if !copied && waited {
		return errors.New("the clipboard cannot be used")
	}
	return ctx.Err()
}

// Authorize has the system ask for an administrator.
func (s *Shell) Authorize(context.Context) ([]byte, error) {
	proof, err := s.rights.Obtain(api.AdminRight, "Fulmen wants to change this Mac or its cluster.")
	if errors.Is(err, authorization.ErrCancelled) {
		return nil, api.NewError(api.ReasonCancelled, "")
	}
	return proof, err
}
