package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
	"fulmen/native/nativetest/testkit"
)

func TestHandlers(t *testing.T) {
	is := is.New(t)
	log := &testkit.Log{}
	do := map[string]func(context.Context) error{
		"fine":    func(context.Context) error { return nil },
		"refused": func(context.Context) error { return api.NewError(api.ReasonAmbiguousName, "mac") },
		"wrapped": func(context.Context) error {
			return fmt.Errorf("at 10.0.0.7: %w", api.NewError(api.ReasonNoSuchNode, "mac"))
		},
		"defect":   func(context.Context) error { return errors.New("open /var/lib/fulmen/identity.key: permission denied") },
		"panic":    func(context.Context) error { panic("index out of range in identity.key") },
		"deadline": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"cancel":   func(context.Context) error { return context.Canceled },
	}
	a := servertest.Start(t, func(c *server.Config) {
		c.Limits.CallDeadline = 50 * time.Millisecond
		c.Log = slog.New(slog.NewTextHandler(log, nil))
		c.Handlers = server.Handlers{
			"node.rename": server.Handle(func(ctx context.Context, c *server.Caller, p api.NodeRename) (api.Empty, error) {
				return api.Empty{}, do[p.Name](ctx)
			}),
			"daemon.report": server.Handle(func(context.Context, *server.Caller, api.Empty) (api.DaemonReportResult, error) {
				return api.DaemonReportResult{Files: []api.ReportFile{{Text: strings.Repeat("x", 2*api.MaxMessageBytes)}}}, nil
			}),
		}
		c.InAdminGroup = func(uint32) (bool, error) { return true, nil }
	})
	w := dialSocket(t, a)
	w.ok("node.rename", `{"name":"fine"}`, nil)
	for name, want := range map[string]api.Reason{
		"refused": api.ReasonAmbiguousName, "wrapped": api.ReasonNoSuchNode, "defect": api.ReasonInternal,
		"panic": api.ReasonInternal, "deadline": api.ReasonDeadline, "cancel": api.ReasonCancelled,
	} {
		m := w.call("node.rename", `{"name":"`+name+`"}`)
		is.Equal(m.Error.Data.Reason, want)
		info, _ := api.LookupReason(want)
		is.Equal(m.Error.Code, int(info.Code))
		is.True(!strings.Contains(m.Error.Message, "identity.key")) // what is inside stays inside
		is.True(!strings.Contains(m.Error.Message, "10.0.0.7"))
	}
	is.True(strings.Contains(log.String(), "permission denied")) // and goes to the log
	is.True(strings.Contains(log.String(), "index out of range"))
	is.Equal(w.call("daemon.report", `{}`).Error.Data.Reason, api.ReasonMessageTooLarge)
}

// A batch whose replies fit one by one may not fit together.
func TestBatchOfLargeReplies(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	a.Facts.Put(servertest.Document(t, api.KindMemory, "", 1, blob{strings.Repeat("x", 250<<10)}))
	w := dialSocket(t, a)
	entry := `{"jsonrpc":"2.0","id":%d,"method":"state.watch"}`
	var all []string
	for i := range 6 {
		all = append(all, fmt.Sprintf(entry, i))
	}
	w.send("[" + strings.Join(all, ",") + "]")
	text, err := w.readText()
	is.NoErr(err)
	is.True(len(text) < 10_000)
	is.Equal(strings.Count(text, string(api.ReasonMessageTooLarge)), 6)
	until(t, func() bool { return a.Facts.Watches() == 0 }) // subscriptions that nobody knows of are over
}

// stream starts a server whose measure.gpu hands its stream to the test.
func stream(t *testing.T, lagged func(api.Subscription) any) (*wire, *server.Stream) {
	streams := make(chan *server.Stream, 1)
	a := servertest.Start(t, func(c *server.Config) {
		c.Handlers = server.Handlers{"measure.gpu": server.Handle(
			func(_ context.Context, c *server.Caller, _ api.MeasureGPUParams) (api.MeasureStarted, error) {
				s, err := c.Subscribe(lagged)
				if err != nil {
					return api.MeasureStarted{}, err
				}
				streams <- s
				// Before the reply: it must come after.
				return api.MeasureStarted{Sub: s.Sub(), Measurement: measurement("")}, s.Send("", progress(s.Sub(), "at once"))
			})}
	})
	w := dialSocket(t, a)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"measure.gpu"}`)
	m := w.read()
	is.New(t).Equal(string(m.ID), "1") // the reply comes first
	is.New(t).Equal(w.progress(), "1 at once")
	return w, <-streams
}

func progress(sub api.Subscription, step string) func(uint64) any {
	return func(n uint64) any {
		return api.MeasureChanged{Sub: sub, N: n, Measurement: measurement(step)}
	}
}

func measurement(step string) api.Measurement {
	key := api.Key{Node: servertest.Node, Kind: api.KindGPUProfile}
	return api.Measurement{ID: "m4k2m9xq7", State: api.MeasureRunning, StartedAt: api.TimeOf(time.Unix(0, 0)),
		Items: []api.MeasureItem{{Document: key, State: api.MeasureRunning, Step: step}}}
}

// progress reads a measure.changed and gives its number and step.
func (w *wire) progress() string {
	w.t.Helper()
	m := w.read()
	var c api.MeasureChanged
	if err := json.Unmarshal(m.Params, &c); err != nil || m.Method != "measure.changed" {
		w.t.Fatalf("not measure.changed: %v %+v", err, m)
	}
	return fmt.Sprint(c.N, " ", c.Measurement.Items[0].Step)
}

func TestStream(t *testing.T) {
	is := is.New(t)
	w, s := stream(t, nil)
	is.NoErr(s.Send("", progress(s.Sub(), "one")))
	is.NoErr(s.Send("", progress(s.Sub(), "two")))
	is.Equal(w.progress(), "2 one")
	is.Equal(w.progress(), "3 two")
	is.NoErr(s.Send("", progress(s.Sub(), "last")))
	s.End()
	is.Equal(w.progress(), "4 last")
	<-s.Done()
	is.Equal(s.Send("", progress(s.Sub(), "more")), server.ErrStreamEnded)

	w, s = stream(t, nil)
	w.ok("state.unwatch", fmt.Sprintf(`{"sub":%q}`, s.Sub()), nil) // ends a stream of any group
	<-s.Done()

	w, s = stream(t, nil)
	is.NoErr(w.ws.CloseNow())
	<-s.Done()
}

func TestStreamOfSlowClient(t *testing.T) {
	is := is.New(t)
	big := strings.Repeat("x", 50<<10)
	w, s := stream(t, func(sub api.Subscription) any { return api.StateChanged{Sub: sub, Lagged: true} })
	// With one key the latest takes the place of the one before it.
	for i := range 500 {
		is.NoErr(s.Send("progress", progress(s.Sub(), fmt.Sprint(big, i))))
	}
	last, n := "", 1
	for n = 2; !strings.HasSuffix(last, "x499"); n++ {
		last = w.progress()
		is.True(strings.HasPrefix(last, fmt.Sprint(n, " "))) // no gap
	}
	is.True(n < 500)
	// Without keys the bound is reached, and the client is told.
	var err error
	for err == nil {
		err = s.Send("", progress(s.Sub(), big))
	}
	is.Equal(err, server.ErrStreamEnded)
	for !strings.Contains(string(w.read().Params), `"lagged":true`) {
	}
	<-s.Done()

	w, s = stream(t, nil) // or disconnected, where the stream has no words for it
	for err = nil; err == nil; err = s.Send("", progress(s.Sub(), big)) {
	}
	<-s.Done()
	w.closed()
}
