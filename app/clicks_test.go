package app_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/app"
	"fulmen/app/menubar"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/client/clienttest"
)

// kinds are all that a click can be on, whatever it is about. A line of another
// kind is to be added here, and is then clicked below.
const kinds = `add:join add:show cable:disable cable:enable cable:measure cable:mute cable:show cables:enable_all code:close code:show
condition condition:action copy:show dashboard diagnostics errand headline headline:action headline:measure headline:mute headline:show job:logs job:retry job:stop job:take_over
measure node:measure node:remove node:show obstacle:next pending:code pending:ignore pending:later quit settings:cli settings:login settings:notifications
settings:title sharing:awake sharing:idle sharing:list sharing:mapped sharing:models sharing:nobody sharing:power sharing:public`

// kindOf is the kind of a line, by the first and the last part of its id; what is
// between says what it is about.
func kindOf(i app.Item) string {
	parts := strings.Split(i.ID, ":")
	last := parts[len(parts)-1]
	switch {
	case strings.HasPrefix(i.ID, "settings:title:"):
		return "settings:title"
	case parts[0] == "errand" || parts[0] == "condition" && last != "action":
		return parts[0]
	case len(parts) > 1:
		return parts[0] + ":" + last
	}
	return i.ID
}

// clickable calls f with every line of a menu on which a click does something.
func clickable(items []app.Item, f func(app.Item)) {
	for _, i := range items {
		if i.Do != nil && !i.Disabled {
			f(i)
		}
		clickable(i.Items, f)
	}
}

// Every line that any menu can have is clicked, and what comes of it is seen: at a
// daemon, with the parameters that the menu has, or at the desktop.
func TestEveryClickArrives(t *testing.T) {
	lines := map[string]map[string]app.Item{} // by kind and by what is done
	for _, name := range slices.Sorted(maps.Keys(app.EveryState())) {
		clickable(app.Build(app.EveryState()[name]).Items, func(i app.Item) {
			kind := kindOf(i)
			if lines[kind] == nil {
				lines[kind] = map[string]app.Item{}
			}
			what := string(i.Do.App) + i.Do.Value
			if i.Do.Call != nil {
				what = i.Do.Call.Method
			}
			if _, isKnown := lines[kind][what]; !isKnown {
				lines[kind][what] = i
			}
		})
	}
	is.New(t).Equal(slices.Sorted(maps.Keys(lines)), strings.Fields(kinds))
	r := newClickRig(t)
	for _, kind := range slices.Sorted(maps.Keys(lines)) {
		for _, what := range slices.Sorted(maps.Keys(lines[kind])) {
			t.Run(strings.Trim(kind+" "+what, " "), func(t *testing.T) { r.click(t, lines[kind][what]) })
		}
	}
}

// clickRig is the app over a daemon and a desktop that write down what reaches them.
type clickRig struct {
	daemon *clienttest.Daemon
	clicks chan app.Item
	did    chan string

	mu           sync.Mutex
	isAuthorized bool
}

func newClickRig(t *testing.T) *clickRig {
	t.Helper()
	is := is.New(t)
	home, err := os.MkdirTemp("", "fc") // paths of sockets are short
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(home) })
	r := &clickRig{clicks: make(chan app.Item), did: make(chan string, 64)}
	r.daemon, err = clienttest.Start(home)
	is.NoErr(err)
	t.Cleanup(func() { r.daemon.Close() })
	r.daemon.Always("daemon.browser_secret", api.DaemonBrowserSecretResult{URL: "http://127.0.0.1:1/#secret=x"})
	r.daemon.Set("daemon.authorize", func(json.RawMessage) (any, error) { r.authorize(true); return api.Empty{}, nil })
	ctx, stop := context.WithCancel(t.Context())
	env := api.Environment{OS: "linux", UID: 1000, Getenv: func(name string) string { return map[string]string{"FULMEN_HOME": home}[name] }}
	a := menubar.New(menubar.Options{Version: "1.0.0", Screen: r, Shell: r, PreferencesFile: home + "/app.toml", Account: "ann", Quit: func() { r.did <- "quit" },
		Report: func(context.Context) (string, error) { return "==== about ====\nit\n", nil },
		Dial: func(ctx context.Context) (*client.Client, error) {
			return client.Dial(ctx, client.Options{Addresses: client.Find(env)})
		}})
	over := make(chan struct{})
	go func() { defer close(over); a.Run(ctx) }()
	t.Cleanup(func() { stop(); <-over })
	r.daemon.Await("node.watch") // it follows the daemon
	return r
}

func (r *clickRig) authorize(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isAuthorized = yes
}

// click clicks a line and waits for all that is to come of it.
func (r *clickRig) click(t *testing.T, i app.Item) {
	var want []string
	call, answer := i.Do.Call, any(map[string]any{})
	if i.Do.Confirm != nil {
		want = append(want, "confirm "+i.Do.Confirm.Title)
	}
	switch do := i.Do; {
	case do.Dialog != nil && do.Dialog.Kind == app.DialogEnterCode:
		want = append(want, "ask "+do.Dialog.Title+" []", "ask "+app.AccountQuestion("").Title+" [ann]")
		call = &app.Call{Method: "cluster.join", Params: api.ClusterJoinParams{Code: "7K3M-Q2XA", Account: "ben"}, Admin: true}
		if do.Dialog.Node != "" {
			call = &app.Call{Method: "cluster.answer", Params: api.ClusterAnswerParams{Node: api.NodeID(do.Dialog.Node), Code: "7K3M-Q2XA", Account: "ben"}, Admin: true}
		}
	case do.Dialog != nil && do.Dialog.Kind == app.DialogUserAction:
		want = append(want, "show "+do.Dialog.Title)
	case do.Dialog != nil:
		expired := api.NewError(api.ReasonCodeExpired, "")
		want = append(want, "failed "+i.Title+": "+expired.Message+" "+expired.Data.Remedy)
	case strings.HasPrefix(do.Open, "dashboard:"):
		call = &app.Call{Method: "daemon.browser_secret"}
		page := ""
		if do.Open != "dashboard:/" {
			page = "&page=" + strings.TrimPrefix(do.Open, "dashboard:")
		}
		want = append(want, "open http://127.0.0.1:1/#secret=x"+page)
	case do.Open != "":
		want = append(want, "open "+do.Open)
	case do.Copy != "":
		want = append(want, "copy "+do.Copy)
	case do.App == app.AppQuit:
		want = append(want, "quit")
	case do.App == app.AppDiagnostics:
		want = append(want, "copy Fulmen 1.0.0\n\n==== about ====\nit\n")
	case do.App == app.AppTitle, do.App == app.AppNotifications:
		t.Skip("a setting of the app: cmd/fulmen-app sees it over D-Bus")
	case do.App != "":
		want = append(want, "do "+string(do.App))
	}
	times := 1
	if call != nil && call.Admin {
		want, times = append(want, "authorize"), 2
	}
	r.authorize(false)
	if call != nil && call.Method != "daemon.browser_secret" {
		r.serve(*call, answer)
	}
	before := r.called(call)
	r.clicks <- i
	for _, w := range want {
		select {
		case got := <-r.did:
			is.New(t).Equal(got, w)
		case <-time.After(time.Minute):
			t.Fatalf("waited for %q", w)
		}
	}
	if call == nil {
		return
	}
	r.daemon.AwaitTimes(call.Method, len(before)+times)
	params := "{}"
	if call.Params != nil {
		raw, err := json.Marshal(call.Params)
		is.New(t).NoErr(err)
		params = string(raw)
	}
	for _, got := range r.called(call)[len(before):] {
		is.New(t).Equal(got, params)
	}
}

// serve answers a method, to who is authorised where it is for administrators.
func (r *clickRig) serve(c app.Call, result any) {
	refused := func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if c.Admin && !r.isAuthorized {
			return api.NewError(api.ReasonAdminRequired, c.Method)
		}
		return nil
	}
	if strings.HasPrefix(c.Method, "measure.") {
		done := api.Measurement{ID: api.NewMeasureID(), State: api.MeasureDone}
		r.daemon.SetStream(c.Method, func(json.RawMessage) (any, func(func(any) error), error) {
			return api.MeasureStarted{Measurement: done}, func(notify func(any) error) {
				_ = notify(api.MeasureChanged{N: 1, Measurement: done, Terminal: true}) // the client may be gone
			}, refused()
		})
		return
	}
	r.daemon.Set(c.Method, func(json.RawMessage) (any, error) { return result, refused() })
}

// called are the parameters of the calls of a method so far.
func (r *clickRig) called(c *app.Call) (all []string) {
	if c == nil {
		return nil
	}
	for _, made := range r.daemon.Calls() {
		if made.Method == c.Method {
			all = append(all, made.Params)
		}
	}
	return all
}

func (r *clickRig) Draw(app.Menu)           {}
func (r *clickRig) Clicks() <-chan app.Item { return r.clicks }
func (r *clickRig) Opened() <-chan struct{} { return nil }
func (r *clickRig) Reading() bool           { return false }
func (r *clickRig) Confirm(_ context.Context, q app.Confirm) bool {
	r.did <- "confirm " + q.Title
	return true
}
func (r *clickRig) Show(_ context.Context, title, _, _ string) { r.did <- "show " + title }
func (r *clickRig) Failed(_ context.Context, title, text string) {
	r.did <- "failed " + title + ": " + text
}
func (r *clickRig) Notify(context.Context, app.Notice) {}
func (r *clickRig) Open(_ context.Context, address string) error {
	r.did <- "open " + address
	return nil
}
func (r *clickRig) Copy(_ context.Context, text string) error { r.did <- "copy " + text; return nil }
func (r *clickRig) Authorize(context.Context) ([]byte, error) {
	r.did <- "authorize"
	return []byte("x"), nil
}
func (r *clickRig) Do(_ context.Context, what app.AppDo) error {
	r.did <- "do " + string(what)
	return nil
}
func (r *clickRig) Setup() app.Setup                                     { return app.SetupGood }
func (r *clickRig) LaunchesAtLogin() bool                                { return false }
func (r *clickRig) Changed() <-chan struct{}                             { return nil }
func (r *clickRig) Choose(context.Context, string, string, []string) int { return -1 }
func (r *clickRig) Ask(_ context.Context, q app.Question) (string, bool) {
	r.did <- "ask " + q.Title + " [" + q.Answer + "]"
	if q.Answer == "ann" {
		return " ben ", true
	}
	return "7K3M-Q2XA", true
}
