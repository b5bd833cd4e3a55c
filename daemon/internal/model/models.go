// Package model answers which models are on this Mac, and verifies them. It opens nothing
// that belongs to an account itself: for each account that is asked about a process of
// package inventory runs with that account's rights. It is started by the first question
// and stays, since it follows what changes.
//
// It owns no facts and publishes nothing: which models of this Mac others may know of is
// for the Mac's owner to say.
package model

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/native"
)

// Config is what the models of this Mac are asked with.
type Config struct {
	// Self is the path of the daemon's own program, which every account can execute.
	Self string
	// Account is the account that a caller's jobs run as; the error, an *api.Error, is
	// what the caller gets.
	Account func(who api.Principal) (account.Account, error)
	// Environment is that of an account, as NAME=VALUE; it is empty where it is not known.
	Environment func(ctx context.Context, who account.Account) []string
	// Folders are those that the configuration names.
	Folders func() []string
	// Clock is what answers are waited for on.
	Clock native.Clock
	// Wait is how long an answer may take; 0 = one minute.
	Wait time.Duration
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// Models are those of the accounts of this Mac.
type Models struct {
	cfg       Config
	ctx       context.Context
	stop      context.CancelFunc
	verifying chan struct{} // a place for each verification that runs

	mu      sync.Mutex
	readers map[uint32]*reader // by uid
}

// reader is the process that reads for one account.
type reader struct {
	turn    chan struct{} // held while one asks
	places  inventory.Places
	process *process // nil where none runs
}

const (
	defaultWait = time.Minute
	// maxVerifying bounds the verifications at once: each reads as fast as the disk does.
	maxVerifying = 2
)

// New starts nothing yet.
func New(c Config) *Models {
	c.Wait = cmp.Or(c.Wait, defaultWait)
	ctx, stop := context.WithCancel(context.Background())
	return &Models{cfg: c, ctx: ctx, stop: stop, verifying: make(chan struct{}, maxVerifying), readers: map[uint32]*reader{}}
}

// Close ends what reads.
func (m *Models) Close() error {
	m.stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.readers {
		r.turn <- struct{}{} // whoever asks has no answer any more
		if r.process != nil {
			r.process.end()
		}
	}
	m.readers = nil
	return nil
}

// List is the models that a caller has, and where they were looked for.
func (m *Models) List(ctx context.Context, who api.Principal) (api.ModelListResult, error) {
	a, name, err := m.ask(ctx, who, inventory.Question{})
	if err != nil || a.List == nil {
		return api.ModelListResult{}, cmp.Or(err, unanswered(name))
	}
	a.List.Account = name
	return *a.List, nil
}

// Show is one of them with its files.
func (m *Models) Show(ctx context.Context, who api.Principal, sel api.ModelSelect) (api.ModelShowResult, error) {
	if sel.Model == "" {
		return api.ModelShowResult{}, api.NewError(api.ReasonMissingField, "model")
	}
	a, name, err := m.ask(ctx, who, inventory.Question{Show: &sel})
	if err != nil || a.Show == nil {
		return api.ModelShowResult{}, cmp.Or(err, unanswered(name))
	}
	a.Show.Account = name
	return *a.Show, nil
}

func unanswered(name string) error {
	return api.Errorf(api.ReasonInternal, name, "The process that reads the models of %s did not answer.", name)
}

// ask has the process of the caller's account answer.
func (m *Models) ask(ctx context.Context, caller api.Principal, q inventory.Question) (a inventory.Answer, name string, err error) {
	who, err := m.cfg.Account(caller)
	if err != nil {
		return a, "", err
	}
	ctx, cancel := native.WithTimeout(ctx, m.cfg.Clock, m.cfg.Wait, "the models of "+who.Name)
	defer cancel()
	r, err := m.reader(who)
	if err != nil {
		return a, who.Name, err
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return a, who.Name, late(ctx, who.Name)
	}
	places := m.places(ctx, who)
	if r.process != nil && !same(r.places, places) {
		r.process.end()
		r.process = nil
	}
	if r.process == nil {
		if r.process, err = m.start(who, places); err != nil {
			return a, who.Name, err
		}
		r.places = places
	}
	unwatch := context.AfterFunc(ctx, r.process.kill)
	err = r.process.ask(q, func(got inventory.Answer) { a = got })
	if !unwatch() || err != nil {
		r.process.end() // the next one starts another
		m.cfg.Log.Warn("the process that reads an account's models ended", "account", who.Name, "err", err, "said", r.process.complaints.String())
		r.process = nil
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return a, who.Name, late(ctx, who.Name)
	case err != nil:
		return a, who.Name, unanswered(who.Name)
	case a.Error != nil:
		return a, who.Name, a.Error
	}
	return a, who.Name, nil
}

// late is the error of a question that nobody waits for any more.
func late(ctx context.Context, name string) error {
	if context.Cause(ctx) == context.Canceled {
		return api.NewError(api.ReasonCancelled, name)
	}
	return api.Errorf(api.ReasonDeadline, name, "Reading the models of %s took too long.", name).WithWait("the models of " + name).
		WithRemedy("Look whether a folder of models is on a disk that does not answer.")
}

func (m *Models) reader(who account.Account) (*reader, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return nil, api.NewError(api.ReasonStopping, "")
	}
	r := m.readers[who.UID]
	if r == nil {
		r = &reader{turn: make(chan struct{}, 1)}
		m.readers[who.UID] = r
	}
	return r, nil
}

// places are where an account keeps models.
func (m *Models) places(ctx context.Context, who account.Account) inventory.Places {
	p := inventory.Places{Home: who.Home, Folders: m.cfg.Folders()}
	for _, line := range m.cfg.Environment(ctx, who) {
		switch name, value, _ := strings.Cut(line, "="); name {
		case "HF_HUB_CACHE":
			p.HubCache = value
		case "HF_HOME":
			p.HFHome = value
		}
	}
	return p
}

func same(a, b inventory.Places) bool {
	return a.Home == b.Home && a.HubCache == b.HubCache && a.HFHome == b.HFHome && slices.Equal(a.Folders, b.Folders)
}
