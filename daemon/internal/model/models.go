// Package model answers which models are on this Mac, verifies them, and copies them from
// other Macs. It opens nothing that belongs to an account itself: for each account that is
// asked about a process of package inventory runs with that account's rights. It is started
// by the first question and stays, since it follows what changes. A copy has processes of
// its own, of package transfer.
//
// It owns no facts and publishes nothing. Another Mac's people are answered where this
// Mac's owner shares models with them, which the gate proves.
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
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/model/multipath"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/files/carry"
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
	// Reads is the account whose models a person may read, who may be of another Mac, or that
	// they may read what is public alone; the error is an *api.Error.
	Reads func(who api.Principal) (of account.Account, isPublic bool, err error)
	// Named is an account that models were got for.
	Named func(name string) (account.Account, error)
	// Public keeps which models are public.
	Public PublicStore
	// Sharing is what a Mac has published of what it shares; false = nothing yet.
	Sharing func(node api.NodeID) (api.Sharing, bool)
	// IsSlow reports whether a Mac is known to be reached over slow or costly networks alone.
	IsSlow func(node api.NodeID) bool
	// Ways are the paths to a Mac.
	Ways func(node api.NodeID) []Way
	// Peers are the Macs.
	Peers peer.Caller
	// Plans are those of the jobs that go on.
	Plans func() map[api.JobID]api.Plan
	// Folders are those that the configuration names, and HubCache is the cache of Hugging
	// Face that it names; empty = each account's own.
	Folders  func() []string
	HubCache func() string
	// Python is one that has huggingface_hub; empty = an environment is made.
	Python func() string
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
	copying   chan struct{} // one for each copy to this Mac
	sending   chan struct{} // one for each copy from it
	carrier   carry.Carrier

	publicly sync.Mutex // held while what is public changes

	mu      sync.Mutex
	readers map[uint32]*reader // by uid
	copies  map[*Copying]api.ModelCopying
	served  map[part]*multipath.Conn
	watches map[*Watch]bool
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
	// maxCopies bounds the copies at once, in each direction.
	maxCopies = 4
)

// New starts nothing yet, but answers other Macs.
func New(c Config) *Models {
	c.Wait = cmp.Or(c.Wait, defaultWait)
	ctx, stop := context.WithCancel(context.Background())
	m := &Models{
		cfg: c, ctx: ctx, stop: stop, verifying: make(chan struct{}, maxVerifying), copying: make(chan struct{}, maxCopies), sending: make(chan struct{}, maxCopies),
		carrier: carry.Carrier{Self: c.Self, Clock: c.Clock, Silence: c.Wait, Log: c.Log}, readers: map[uint32]*reader{}, copies: map[*Copying]api.ModelCopying{}, served: map[part]*multipath.Conn{}, watches: map[*Watch]bool{},
	}
	c.Peers.HandleCall(gate.HandleReader(gate.Models, func(ctx context.Context, r gate.Reader, _ api.PeerModelsParams) (any, error) {
		who, isPublic, err := m.cfg.Reads(r.By())
		switch {
		case err != nil:
			return nil, err
		case isPublic:
			return m.publicList(ctx), nil
		}
		return m.list(ctx, who)
	}))
	c.Peers.HandleStream(gate.ServeReader(gate.Model, m.serve))
	c.Peers.HandleStream(gate.ServeReader(gate.ModelCopy, m.fetchFor))
	return m
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
func (m *Models) List(ctx context.Context, caller api.Principal) (api.ModelListResult, error) {
	who, err := m.cfg.Account(caller)
	if err != nil {
		return api.ModelListResult{}, err
	}
	return m.list(ctx, who)
}

func (m *Models) list(ctx context.Context, who account.Account) (api.ModelListResult, error) {
	a, err := m.ask(ctx, who, inventory.Question{})
	if err != nil || a.List == nil {
		return api.ModelListResult{}, cmp.Or(err, unanswered(who.Name))
	}
	a.List.Account = who.Name
	return *a.List, nil
}

// Show is one of them with its files.
func (m *Models) Show(ctx context.Context, caller api.Principal, sel api.ModelSelect) (api.ModelShowResult, error) {
	if sel.Model == "" {
		return api.ModelShowResult{}, api.NewError(api.ReasonMissingField, "model")
	}
	who, err := m.cfg.Account(caller)
	if err != nil {
		return api.ModelShowResult{}, err
	}
	a, err := m.ask(ctx, who, inventory.Question{Show: &sel})
	if err != nil || a.Show == nil {
		return api.ModelShowResult{}, cmp.Or(err, unanswered(who.Name))
	}
	a.Show.Account = who.Name
	return *a.Show, nil
}

func unanswered(name string) error {
	return api.Errorf(api.ReasonInternal, name, "The process that reads the models of %s did not answer.", name)
}

// ask has the process of an account answer.
func (m *Models) ask(ctx context.Context, who account.Account, q inventory.Question) (a inventory.Answer, err error) {
	ctx, cancel := native.WithTimeout(ctx, m.cfg.Clock, m.cfg.Wait, "the models of "+who.Name)
	defer cancel()
	r, err := m.reader(who)
	if err != nil {
		return a, err
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return a, late(ctx, who.Name)
	}
	places := m.places(ctx, who)
	if r.process != nil && !same(r.places, places) {
		r.process.end()
		r.process = nil
	}
	if r.process == nil {
		if r.process, err = m.start(who, places); err != nil {
			return a, err
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
		return a, late(ctx, who.Name)
	case err != nil:
		return a, unanswered(who.Name)
	case a.Error != nil:
		return a, a.Error
	}
	return a, nil
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
	return m.placesIn(who, m.cfg.Environment(ctx, who))
}

// placesIn are those of an account whose environment is known.
func (m *Models) placesIn(who account.Account, environment []string) inventory.Places {
	p := inventory.Places{Home: who.Home, Folders: m.cfg.Folders()}
	for _, line := range environment {
		switch name, value, _ := strings.Cut(line, "="); name {
		case "HF_HUB_CACHE":
			p.HubCache = value
		case "HF_HOME":
			p.HFHome = value
		}
	}
	p.HubCache = cmp.Or(m.cfg.HubCache(), p.HubCache)
	return p
}

func same(a, b inventory.Places) bool {
	return a.Home == b.Home && a.HubCache == b.HubCache && a.HFHome == b.HFHome && slices.Equal(a.Folders, b.Folders)
}
