package menubar

import (
	"context"
	"time"

	"fulmen/app"
	"fulmen/app/deeplink"
)

// linkTimeout is how long a link waits for an app that it has started to know
// of what the link speaks.
const linkTimeout = 5 * time.Second

// Receive takes what the app was opened with, also again while it runs: the
// address of a link, or nothing, which shows how things are in a window. It may
// be called from any goroutine and never waits: while one is asked about,
// another is let fall, so that no page can cover the screen with questions.
func (a *App) Receive(address string) {
	select {
	case a.opened <- address:
	default:
	}
}

// receive asks about one.
func (a *App) receive(ctx context.Context, address string) {
	if !a.asking.TryLock() {
		return
	}
	defer a.asking.Unlock()
	if address == "" {
		a.window(ctx)
		return
	}
	item, err := a.asked(ctx, address)
	if err != nil {
		if ctx.Err() == nil {
			a.opts.Shell.Failed(ctx, "What a link asked for was not done", sentence(err))
		}
		return
	}
	a.do(ctx, item)
}

// asked is what a link asks for. One that has started the app waits until the
// app knows the cluster.
func (a *App) asked(ctx context.Context, address string) (app.Item, error) {
	call, err := deeplink.Parse(address)
	if err != nil {
		return app.Item{}, err
	}
	known, cancel := context.WithDeadline(ctx, a.began.Add(linkTimeout))
	defer cancel()
	for {
		a.mu.Lock()
		updated := a.updated
		a.mu.Unlock()
		item, err := a.state(time.Now()).Asked(call)
		if err == nil {
			return item, nil
		}
		select {
		case <-updated:
		case <-known.Done():
			return app.Item{}, err
		}
	}
}

// Choose opens what a notification that was clicked is about. It may be called
// from any goroutine and never waits.
func (a *App) Choose(what string) {
	select {
	case a.chosen <- what:
	default:
	}
}

// window shows how things are, and does what is chosen in it.
func (a *App) window(ctx context.Context) {
	o := app.Build(a.state(time.Now())).Overview()
	titles := make([]string, 0, len(o.Choices))
	for _, c := range o.Choices {
		titles = append(titles, c.Title)
	}
	if n := a.opts.Shell.Choose(ctx, o.Title, o.Text, titles); n >= 0 && n < len(o.Choices) {
		a.do(ctx, o.Choices[n])
	}
}
