package model

import (
	"context"
	"encoding/json"
	"net"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/native"
)

// fetchFor copies a model to this Mac for a person of another one, whom the map leads to an
// account here: it is this account that fetches, and the connection gets how far it is. It
// ends with the connection.
func (m *Models) fetchFor(ctx context.Context, by gate.Reader, refused error, first api.PeerConn, conn net.Conn) {
	to := json.NewEncoder(conn)
	send := func(p api.ModelProgress, isLast bool) error {
		return to.Encode(api.PeerModelCopied{Progress: p, Terminal: isLast})
	}
	err := refused
	var c *Copying
	if err == nil {
		var who api.Principal
		if who, err = m.accountOf(by); err == nil {
			c, err = m.Copy(ctx, who, first.Copy.From, first.Copy.Model, first.Copy.AnyNetwork)
		}
	}
	if err != nil {
		_ = send(api.ModelProgress{Error: api.AsError(err)}, true) // who asked may be gone
		return
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = conn.Read(make([]byte, 1)) // it says nothing more
		cancel()
	}()
	var latest api.ModelProgress
	for isLast := false; !isLast && ctx.Err() == nil; {
		// What waits for its turn reports too, or whoever asked would take this Mac for gone.
		within, stop := native.WithTimeout(ctx, m.cfg.Clock, m.carrier.Silence, "a copy to go on")
		p, hasEnded, err := c.Next(within)
		stop()
		if err == nil {
			latest, isLast = p, hasEnded
		}
		if err := send(latest, isLast); err != nil {
			return
		}
	}
}

// accountOf is the account of this Mac that a person is here, as a person of this Mac.
func (m *Models) accountOf(by gate.Reader) (api.Principal, error) {
	who, isPublic, err := m.cfg.Reads(by.By())
	if err == nil && isPublic {
		err = api.NewError(api.ReasonPrincipalUnmapped, by.By().String())
	}
	return api.Principal{User: who.Name, Node: m.cfg.Peers.Self()}, err
}

// RemoteCopy is a copy of a model to another Mac, which that Mac fetches.
type RemoteCopy struct {
	models *Models
	to     api.NodeID
	conn   net.Conn
	lines  interface {
		Scan() bool
		Bytes() []byte
	}
}

// maxCopied is the longest line about progress, in bytes.
const maxCopied = 64 << 10

// CopyTo begins to have another Mac copy a model from a Mac, which may be this one, or from
// Hugging Face where none is named, for the account that its map has for the caller.
func (m *Models) CopyTo(ctx context.Context, caller api.Principal, to, from api.NodeID, sel api.ModelSelect, overAny bool) (*RemoteCopy, error) {
	switch {
	case sel.Model == "":
		return nil, api.NewError(api.ReasonMissingField, "model")
	case to == from:
		return nil, api.Errorf(api.ReasonBadValue, "to", "The model is on that Mac already.").WithRemedy("Name two Macs.")
	}
	if err := m.isShared(caller, to, true); err != nil {
		return nil, err
	}
	first := api.PeerModelCopy{PeerModel: api.PeerModel{By: caller, Model: sel}, From: from, AnyNetwork: overAny}
	conn, err := m.cfg.Peers.Stream(ctx, to, api.PeerConn{Carries: api.ConnModelCopy, Copy: &first})
	if err != nil {
		return nil, err
	}
	return &RemoteCopy{models: m, to: to, conn: conn, lines: look.Lines(conn, maxCopied)}, nil
}

// Next is how far it is; the last one says so. A Mac that says nothing for twice as long as
// a copy may rest is gone.
func (r *RemoteCopy) Next(ctx context.Context) (p api.ModelProgress, isLast bool, err error) {
	defer context.AfterFunc(ctx, func() { r.conn.Close() })()
	_ = r.conn.SetReadDeadline(r.models.cfg.Clock.Now().Add(2 * r.models.carrier.Silence))
	if !r.lines.Scan() {
		if ctx.Err() != nil {
			return p, false, context.Cause(ctx)
		}
		return p, false, api.Errorf(api.ReasonModelNotCopied, r.to.Display(), "%s no longer reports how far the copy is.", r.to.Display()).WithWait(r.to.Display())
	}
	var report api.PeerModelCopied
	if err := json.Unmarshal(r.lines.Bytes(), &report); err != nil {
		return p, false, api.Errorf(api.ReasonModelNotCopied, r.to.Display(), "%s answers in another form.", r.to.Display()).
			WithRemedy("Install the same version of Fulmen on both.")
	}
	return report.Progress, report.Terminal, nil
}

// Close ends it, and the copy there.
func (r *RemoteCopy) Close() { r.conn.Close() }
