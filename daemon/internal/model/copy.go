package model

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/model/hub"
	"fulmen/daemon/internal/model/multipath"
	"fulmen/daemon/internal/model/transfer"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/account"
)

// Shared is the models of another Mac that it lets a caller read.
func (m *Models) Shared(ctx context.Context, caller api.Principal, node api.NodeID) (list api.ModelListResult, err error) {
	if err := m.isShared(caller, node, false); err != nil {
		return list, err
	}
	return list, m.cfg.Peers.Call(ctx, node, "peer.models", api.PeerModelsParams{By: caller}, &list)
}

// isShared reports what another Mac's own document says against a caller, so that it is
// asked for nothing that it refuses. asAccount is for what takes an account there.
func (m *Models) isShared(caller api.Principal, node api.NodeID, asAccount bool) error {
	sharing, isKnown := m.cfg.Sharing(node)
	switch {
	case !isKnown:
		return nil // it says so itself
	case sharing.Models == api.ModelsMembers && !asAccount:
		return nil
	case sharing.Models != api.ModelsMapped && sharing.Models != api.ModelsMembers:
		return api.NewError(api.ReasonModelsNotShared, "")
	case !sharing.IsMapped(caller):
		return api.NewError(api.ReasonPrincipalUnmapped, caller.String())
	}
	return nil
}

// serve sends a model to a Mac of whose people one may read it.
func (m *Models) serve(ctx context.Context, to gate.Reader, refused error, first api.PeerConn, conn net.Conn) {
	_ = background(conn) // it is a preference
	var over io.ReadWriteCloser = conn
	if first.Model != nil && first.Model.Copy != "" {
		joined, end := m.joined(to, first.Model, conn, refused != nil)
		defer end()
		if joined == nil {
			return
		}
		over = joined
	}
	err := m.carrier.Serve(ctx, over, "a model to be taken by "+to.Node().Display(), api.ReasonModelNotCopied, m.sending, transfer.SendCommand, func(ctx context.Context) (who account.Account, task any, err error) {
		if refused != nil {
			return who, nil, refused
		}
		who, isPublic, err := m.cfg.Reads(to.By())
		switch {
		case err != nil:
			return who, nil, err
		case isPublic:
			return m.sendPublic(ctx, first.Model.Model)
		}
		return who, transfer.SendTask{Places: m.places(ctx, who), Model: first.Model.Model, Silence: m.carrier.Silence}, nil
	})
	if err != nil && refused == nil { // the gate has logged what it refused
		m.cfg.Log.Warn("a model was not sent", "to", to.Node(), "err", err)
	}
}

// turn waits for a place.
func (m *Models) turn(ctx context.Context, places chan<- struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.ctx.Done():
		return api.NewError(api.ReasonStopping, "")
	}
}

// Copying is a copy of a model to this Mac.
type Copying struct {
	// Account is whose the copy is.
	Account string

	models *Models
	stop   context.CancelFunc
	latest chan api.ModelProgress // what nobody took is replaced
	ended  chan struct{}
	now    api.ModelCopying
	over   *multipath.Conn // nil = no other Mac sends it, or none yet
}

// Copy begins to copy a model of another Mac, or of Hugging Face where none is named, to the
// account of a caller. It ends with the daemon, or with Close; what has arrived stays for the
// next time.
func (m *Models) Copy(ctx context.Context, caller api.Principal, node api.NodeID, sel api.ModelSelect, overAny bool) (*Copying, error) {
	switch {
	case sel.Model == "":
		return nil, api.NewError(api.ReasonMissingField, "model")
	case node == m.cfg.Peers.Self():
		return nil, api.Errorf(api.ReasonBadValue, "node", "The model is on this Mac already.").WithRemedy("Name the Mac to copy it from.")
	}
	if node != "" {
		if err := m.isShared(caller, node, false); err != nil {
			return nil, err
		}
	}
	if node != "" && !overAny && m.cfg.IsSlow(node) {
		return nil, api.NewError(api.ReasonSlowNetwork, node.Display())
	}
	who, err := m.cfg.Account(caller)
	if err != nil {
		return nil, err
	}
	environment := m.cfg.Environment(ctx, who)
	places := m.placesIn(who, environment)
	ctx, stop := context.WithCancel(m.ctx)
	c := &Copying{Account: who.Name, models: m, stop: stop, latest: make(chan api.ModelProgress, 1), ended: make(chan struct{}), now: api.ModelCopying{ModelSelect: sel, From: node}}
	m.goes(c)
	carried := func() (wire.Report, error) {
		if node == "" {
			task := hub.Task{Places: places, Model: sel, Account: who.Name, Python: m.cfg.Python(), Environment: environment, PauseS: pauseS}
			return m.carrier.Do(ctx, who, hub.Command, wire.Task, task, "a model from "+source(node), c.moved)
		}
		task, model := transfer.ReceiveTask{Places: places, Model: sel}, api.PeerModel{By: caller, Model: sel, Copy: rand.Text()}
		return m.carrier.Fetch(ctx, who, transfer.ReceiveCommand, task, "a model from "+source(node), func(ctx context.Context) (io.ReadWriteCloser, error) {
			return c.dial(ctx, node, model, overAny)
		}, c.moved)
	}
	go func() {
		defer close(c.ended)
		defer m.ended(c)
		if err := c.run(ctx, carried); err != nil {
			c.now.Progress.Error = m.whyNotCopied(ctx, node, err)
		}
	}()
	return c, nil
}

// pauseS is how long a connection to Hugging Face that broke is left alone the first time.
const pauseS = 1

// source names where a model is copied from.
func source(node api.NodeID) string {
	if node == "" {
		return "Hugging Face"
	}
	return node.Display()
}

func (c *Copying) run(ctx context.Context, carried func() (wire.Report, error)) error {
	m := c.models
	if err := m.turn(ctx, m.copying); err != nil {
		return err
	}
	defer func() { <-m.copying }()
	report, err := carried()
	if err == nil && c.now.From == "" && report.Model != nil {
		m.got(Public{Account: c.Account, Model: c.now.Model, Revision: report.Model.Revision, Digest: report.Public})
	}
	if report.Model != nil {
		over := c.now.Progress.Over
		c.now.Progress = *report.Model
		c.now.Progress.Over = over
	}
	return err
}

// moved keeps the latest report for whoever asks next.
func (c *Copying) moved(report wire.Report) {
	if report.Model == nil {
		return
	}
	c.now.Progress = *report.Model
	c.now.Progress.Over = c.kinds()
	c.models.goes(c)
	select {
	case <-c.latest:
	default:
	}
	c.latest <- c.now.Progress
}

// whyNotCopied is what a person gets to know of an error.
func (m *Models) whyNotCopied(ctx context.Context, node api.NodeID, err error) *api.Error {
	err = cmp.Or(context.Cause(ctx), err)
	if known, ok := errors.AsType[*api.Error](err); ok {
		return known
	}
	switch {
	case m.ctx.Err() != nil:
		return api.NewError(api.ReasonStopping, "")
	case errors.Is(err, context.Canceled):
		return api.NewError(api.ReasonCancelled, "")
	case errors.Is(err, context.DeadlineExceeded):
		return api.Errorf(api.ReasonDeadline, source(node), "Nothing came from %s for %v.", source(node), m.carrier.Silence).WithWait("a model from " + source(node))
	}
	m.cfg.Log.Warn("a model was not copied", "from", source(node), "err", err)
	return api.Errorf(api.ReasonModelNotCopied, source(node), "The model could not be copied from %s.", source(node))
}

// Next is how far it is; the last one says so. The error is that of ctx.
func (c *Copying) Next(ctx context.Context) (p api.ModelProgress, isLast bool, err error) {
	select {
	case p = <-c.latest:
		return p, false, nil
	case <-c.ended:
		return c.now.Progress, true, nil
	case <-ctx.Done():
		return p, false, context.Cause(ctx)
	}
}

// Close ends it, and waits until its processes are gone.
func (c *Copying) Close() {
	c.stop()
	<-c.ended
}
