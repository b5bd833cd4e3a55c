package menubar

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/app"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// desktop is a screen and a shell in memory: what was drawn and asked is kept,
// and answers are given as set.
type desktop struct {
	clicks          chan app.Item
	changed, opened chan struct{}

	mu       sync.Mutex
	drawn    []app.Menu
	at       []time.Time
	reading  bool
	login    bool
	choice   int
	chooses  []string
	failed   []string
	confirms []string
	asked    []string
	answers  []string
	did      []string      // what was opened, copied and done
	block    chan struct{} // questions are open until it is closed
}

func newDesktop() *desktop {
	return &desktop{clicks: make(chan app.Item), changed: make(chan struct{}, 1), opened: make(chan struct{}, 1), choice: -1}
}

func (d *desktop) Draw(m app.Menu) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drawn, d.at = append(d.drawn, m), append(d.at, time.Now())
}
func (d *desktop) Clicks() <-chan app.Item { return d.clicks }
func (d *desktop) Opened() <-chan struct{} { return d.opened }
func (d *desktop) Reading() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reading
}

func (d *desktop) note(list *[]string, text string) {
	d.mu.Lock()
	*list = append(*list, text)
	block := d.block
	d.mu.Unlock()
	if block != nil {
		<-block
	}
}

func (d *desktop) Confirm(_ context.Context, q app.Confirm) bool {
	d.note(&d.confirms, q.Title)
	return false
}
func (d *desktop) Ask(_ context.Context, q app.Question) (string, bool) {
	d.note(&d.asked, q.Title+" ["+q.Answer+"]")
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.answers) == 0 {
		return "", false
	}
	next := d.answers[0]
	d.answers = d.answers[1:]
	return next, true
}
func (d *desktop) Show(_ context.Context, title, text, _ string) {
	d.note(&d.did, "show "+title+": "+text)
}
func (d *desktop) Failed(_ context.Context, title, text string) { d.note(&d.failed, title+": "+text) }
func (d *desktop) Notify(context.Context, app.Notice)           {}
func (d *desktop) Open(_ context.Context, address string) error {
	d.note(&d.did, "open "+address)
	return nil
}
func (d *desktop) Copy(_ context.Context, text string) error {
	d.note(&d.did, "copy "+text)
	return nil
}
func (d *desktop) collect(context.Context) (string, error) {
	if d.choice == 1 {
		return "", errors.New("no such file")
	}
	return "==== versions.json ====\n", nil
}
func (d *desktop) Authorize(context.Context) ([]byte, error) { return nil, nil }
func (d *desktop) Do(_ context.Context, what app.AppDo) error {
	d.note(&d.did, "do "+string(what))
	return nil
}
func (d *desktop) Setup() app.Setup         { return app.SetupGood }
func (d *desktop) Changed() <-chan struct{} { return d.changed }
func (d *desktop) Choose(_ context.Context, _, text string, choices []string) int {
	d.note(&d.chooses, text+"\n["+strings.Join(choices, "] [")+"]")
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.choice
}
func (d *desktop) LaunchesAtLogin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.login
}

// runs has an app over the desktop run in a bubble, without a daemon, while
// during does something.
func runs(t *testing.T, during func(t *testing.T, d *desktop, a *App, quit <-chan struct{})) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		d, quit := newDesktop(), make(chan struct{})
		a := New(Options{Screen: d, Shell: d, Version: "1", Quit: sync.OnceFunc(func() { close(quit) }), PreferencesFile: t.TempDir() + "/app.toml", Report: d.collect,
			Dial: func(context.Context) (*client.Client, error) { return nil, api.NewError(api.ReasonNoDaemon, "") }})
		over := make(chan struct{})
		go func() { defer close(over); a.Run(ctx) }()
		during(t, d, a, quit)
		stop()
		<-over
	})
}

// settled waits until nothing moves any more but time, and gives what was drawn.
func (d *desktop) settled(after time.Duration) []app.Menu {
	time.Sleep(after)
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]app.Menu(nil), d.drawn...)
}

func TestNothingIsDrawnWhileNothingChanges(t *testing.T) {
	for _, reading := range []bool{false, true} {
		runs(t, func(t *testing.T, d *desktop, _ *App, _ <-chan struct{}) {
			is := is.New(t)
			d.mu.Lock()
			d.reading = reading
			d.mu.Unlock()
			drawn := d.settled(time.Hour)
			is.True(len(drawn) <= 2) // that it looks for the daemon, unless that was over sooner, and that there is none
			is.Equal(drawn[len(drawn)-1].Items[0].Title, "Fulmen does not answer")
		})
	}
}

func TestNoMoreThanTwoMenusASecond(t *testing.T) {
	runs(t, func(t *testing.T, d *desktop, _ *App, _ <-chan struct{}) {
		is := is.New(t)
		d.settled(time.Second)
		for range 60 {
			d.mu.Lock()
			d.login = !d.login
			d.mu.Unlock()
			select {
			case d.changed <- struct{}{}:
			default:
			}
			d.settled(170 * time.Millisecond) // now an odd and now an even number of times between two menus
		}
		drawn := d.settled(time.Second)
		is.True(len(drawn) > 5) // it goes on being drawn
		d.mu.Lock()
		defer d.mu.Unlock()
		for n := 1; n < len(d.at); n++ {
			is.True(d.at[n].Sub(d.at[n-1]) >= pace)
		}
		login := d.login
		last, found := drawn[len(drawn)-1].Find("settings:login")
		is.True(found)
		is.Equal(last.Checked, login) // the last change is never left out
	})
}

func TestOpeningTheAppAgainShowsHowThingsAre(t *testing.T) {
	runs(t, func(t *testing.T, d *desktop, a *App, quit <-chan struct{}) {
		is := is.New(t)
		d.settled(time.Second)
		a.Receive("")
		d.settled(time.Second)
		d.mu.Lock()
		is.Equal(d.chooses, []string{"Fulmen does not answer\nmacOS starts it again by itself within a minute.\n[Start Fulmen] [Copy Diagnostics] [Quit Fulmen Menu]"})
		d.choice = 2
		d.mu.Unlock()
		a.Receive("")
		<-quit
	})
}

func TestDiagnosticsAreAReportOrSayWhyNot(t *testing.T) {
	runs(t, func(t *testing.T, d *desktop, _ *App, _ <-chan struct{}) {
		is := is.New(t)
		click := func() string {
			d.clicks <- app.Item{ID: "diagnostics", Do: &app.Do{App: app.AppDiagnostics}}
			d.settled(time.Second)
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.did[len(d.did)-1]
		}
		is.Equal(click(), "copy Fulmen 1\n\n==== versions.json ====\n")
		d.choice = 1 // there is none
		is.True(strings.HasPrefix(click(), "copy Fulmen 1\n\nThere is no report: no such file\n\ndaemon "))
	})
}

func TestLinksAreAskedAboutOneAtATime(t *testing.T) {
	runs(t, func(t *testing.T, d *desktop, a *App, _ <-chan struct{}) {
		is := is.New(t)
		d.settled(time.Minute)
		a.Receive("https://example.org")
		d.settled(time.Second)
		a.Receive("fulmen:rdma.enable?all_ready=true")
		d.settled(time.Second)
		d.mu.Lock()
		is.Equal(len(d.failed), 2)
		is.True(strings.HasPrefix(d.failed[0], "What a link asked for was not done: The link cannot be used."))
		is.True(strings.Contains(d.failed[1], api.NewError(api.ReasonNoDaemon, "").Message))
		is.Equal(len(d.confirms), 0) // without a daemon there is nothing to agree to
		block := make(chan struct{})
		d.block = block
		d.mu.Unlock()
		for range 100 {
			a.Receive("https://example.org")
			synctest.Wait()
		}
		close(block)
		d.settled(time.Second)
		d.mu.Lock()
		defer d.mu.Unlock()
		is.Equal(len(d.failed), 3)
	})
}

// TestClicksDoWhatTheySay clicks lines of every kind that need no daemon, and one
// that does.
func TestClicksDoWhatTheySay(t *testing.T) {
	runs(t, func(t *testing.T, d *desktop, _ *App, _ <-chan struct{}) {
		is := is.New(t)
		d.settled(time.Second)
		for _, do := range []app.Do{
			{Open: "x-apple.systempreferences:com.apple.LoginItems-Settings.extension"}, {Copy: "fulmen topology"},
			{App: app.AppMove}, {App: app.AppRegister}, {App: app.AppStart}, {App: app.AppLaunchAtLogin}, {App: app.AppInstallCLI},
			{Dialog: &app.Dialog{Kind: app.DialogUserAction, Title: "Steps", Text: "One trip.", Node: "x"}},
			{Call: &app.Call{Method: "job.take_over"}, Confirm: &app.Confirm{Title: "Take over?"}}, // and no
			{Call: &app.Call{Method: "job.retry"}},
			{Dialog: &app.Dialog{Kind: app.DialogShowCode}},
		} {
			d.clicks <- app.Item{Title: "Line…", Do: &do}
			d.settled(time.Second)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		is.Equal(d.did, []string{
			"open x-apple.systempreferences:com.apple.LoginItems-Settings.extension", "copy fulmen topology", "do move_to_applications", "do register_daemon",
			"do start_daemon", "do launch_at_login", "do install_cli", "show Steps: One trip.\n\nNothing is left to be done there.",
		})
		is.Equal(d.confirms, []string{"Take over?"})
		is.Equal(d.failed, []string{
			"Line: " + sentence(api.NewError(api.ReasonNoDaemon, "")), "Line: " + sentence(api.NewError(api.ReasonCodeExpired, "")),
		})
	})
}
