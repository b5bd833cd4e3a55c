package gate

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Known is what this node knows of a job: the document that counts, whose spec and
// home are proven.
type Known struct {
	// Job is the document, and Spec what it holds.
	Job  api.Job
	Spec api.JobSpec
	// Ended says that the job has ended, whatever a home writes since.
	Ended bool
	// Gone says that the job was deleted; there is no document then.
	Gone bool
}

// Plan is that of the attempt that goes on; nil where none does.
func (k Known) Plan() *api.Plan {
	if a := k.Job.OpenAttempt(); a != nil {
		return a.Plan
	}
	return nil
}

// runsOn reports whether a rank of that attempt is for a node.
func (k Known) runsOn(node api.NodeID) bool {
	plan := k.Plan()
	return plan != nil && slices.ContainsFunc(plan.Ranks, func(r api.PlanRank) bool { return r.Node == node })
}

// Config is what a gate rests on.
type Config struct {
	// Self is this node.
	Self api.NodeID
	// Electors tells who is a member.
	Electors api.Electors
	// Known gives what is known of a job; false = nothing.
	Known func(api.JobID) (Known, bool)
	// Bound reports whether a person's take-over binds this node: a person of its own
	// said so too.
	Bound func(api.Step, api.Act) bool
	// Maps reports whether the node of by says that the account of by is the one as
	// which a principal's ranks run there. Of this node that is its own map.
	Maps func(by, principal api.Principal) bool
	// Shares reports whether this node's map leads two people to one account.
	Shares func(by, principal api.Principal) bool
	// Reads says why a person may not read models here; empty = they may.
	Reads func(by api.Principal) api.Reason
	// Cable reports whether a cable leads from this node to another one.
	Cable func(link api.LinkID, to api.NodeID) bool
	// Record hears of every call and connection that is let in or refused; nil = nobody.
	Record func(Entry)
	// Clock is the wall clock for what expires, and what calls are timed by.
	Clock native.Clock
	// Log takes why something was refused; the caller is told little.
	Log *slog.Logger
}

// Entry is one use of a route.
type Entry struct {
	// Route is the row's name.
	Route string
	// From is the calling node, By the person for whom it speaks, where it says so.
	From api.NodeID
	By   api.Principal
	// Of is whose job it is.
	Of api.Principal
	// Subject is the job, rank or cable.
	Subject string
	// Why is the class that was proven; empty where it was refused.
	Why Who
	// Refused is why it was refused.
	Refused api.Reason
}

// Gate lets other nodes in.
type Gate struct {
	cfg Config

	mu  sync.Mutex
	now map[use]int
}

type use struct {
	row  *Row
	from api.NodeID
}

// New makes a gate. The functions of the configuration are called at the first call,
// not before.
func New(cfg Config) *Gate { return &Gate{cfg: cfg, now: map[use]int{}} }

// enter counts a use of a route. It refuses whoever is no member, whatever else a node
// could prove, and one use too many.
func (g *Gate) enter(r *Row, from api.NodeID) (leave func(), err error) {
	if _, isMember := g.cfg.Electors.PublicKey(from); !isMember && from != g.cfg.Self {
		return nil, g.refuse(r, from, api.Principal{}, "", api.NewError(api.ReasonNotAMember, string(from)))
	}
	u := use{r, from}
	g.mu.Lock()
	mayEnter := from == g.cfg.Self || r.AtOnce == 0 || g.now[u] < r.AtOnce
	if mayEnter {
		g.now[u]++
	}
	g.mu.Unlock()
	if !mayEnter {
		return nil, g.refuse(r, from, api.Principal{}, "", api.NewError(api.ReasonTooManyCalls, r.Name))
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.now[u]--; g.now[u] == 0 {
			delete(g.now, u)
		}
	}, nil
}

// Call is a handler behind a gate: the only thing that answers other nodes.
type Call struct {
	gate    *Gate
	handler Handler
}

// Bind puts a handler behind the gate.
func (g *Gate) Bind(h Handler) Call { return Call{g, h} }

// Name is that of the route's row; see [NameOf].
func (c Call) Name() string { return c.handler.row.Name }

// Answer lets a node's call through the route, or refuses it. The error is an
// *api.Error, or the handler's.
func (c Call) Answer(ctx context.Context, from api.NodeID, raw json.RawMessage) (any, error) {
	g, row := c.gate, c.handler.row
	leave, err := g.enter(row, from)
	if err != nil {
		return nil, err
	}
	defer leave()
	if len(raw) > row.Bytes {
		return nil, g.refuse(row, from, api.Principal{}, "", api.NewError(api.ReasonMessageTooLarge, row.Name))
	}
	if row.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = native.WithTimeout(ctx, g.cfg.Clock, row.Within, "this node to answer "+row.Name)
		defer cancel()
	}
	return c.handler.call(ctx, g, from, raw)
}

// Conn is a handler of connections behind a gate: the only thing that serves other
// nodes' connections.
type Conn struct {
	gate    *Gate
	handler StreamHandler
}

// BindStream puts a handler of connections behind the gate.
func (g *Gate) BindStream(h StreamHandler) Conn { return Conn{g, h} }

// Kind is what the connections carry.
func (c Conn) Kind() api.PeerConnKind { return api.PeerConnKind(c.handler.row.Name) }

// Serve lets a node's connection through the route, or refuses it. The caller closes it
// afterwards.
func (c Conn) Serve(ctx context.Context, from api.NodeID, first api.PeerConn, conn net.Conn) {
	g, row := c.gate, c.handler.row
	leave, err := g.enter(row, from)
	if err != nil {
		return
	}
	defer leave()
	c.handler.serve(ctx, g, from, first, conn)
}

// Routes are the handlers behind a gate, by their routes, for calls within this process:
// what is asked is encoded and decoded on the way all the same. The zero value has none.
type Routes struct {
	mu      sync.Mutex
	calls   map[string]Call
	streams map[api.PeerConnKind]Conn
}

// HandleCall sets who answers the calls of a route.
func (d *Routes) HandleCall(c Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls == nil {
		d.calls = map[string]Call{}
	}
	d.calls[c.Name()] = c
}

// HandleStream sets who serves the connections of a route.
func (d *Routes) HandleStream(c Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.streams == nil {
		d.streams = map[api.PeerConnKind]Conn{}
	}
	d.streams[c.Kind()] = c
}

// Answer has a node's call answered. The answer is nil where the handler gave none.
func (d *Routes) Answer(ctx context.Context, from api.NodeID, method string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	c, isHandled := d.calls[NameOf(method, raw)]
	d.mu.Unlock()
	if !isHandled {
		return nil, api.NewError(api.ReasonUnknownMethod, method)
	}
	answer, err := c.Answer(ctx, from, raw)
	if err != nil || answer == nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// Open opens a connection and has it served. The caller closes the near end.
func (d *Routes) Open(ctx context.Context, from api.NodeID, first api.PeerConn) (near, far net.Conn, err error) {
	d.mu.Lock()
	c, isHandled := d.streams[first.Carries]
	d.mu.Unlock()
	if !isHandled {
		return nil, nil, api.NewError(api.ReasonUnknownMethod, string(first.Carries))
	}
	near, far = net.Pipe()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		defer far.Close()
		c.Serve(ctx, from, first, far)
	}()
	return near, far, nil
}

// refuse says why to this node's log and its record, and little to the caller: the
// reason and its words.
func (g *Gate) refuse(r *Row, from api.NodeID, by api.Principal, subject string, err error) error {
	known, person := api.AsError(err), "nobody"
	if by != (api.Principal{}) {
		person = by.String() // also where it is not valid
	}
	g.cfg.Log.Warn("refused another node", "route", r.Name, "from", from, "by", person, "subject", subject, "reason", known.Data.Reason, "error", known.Message)
	g.record(Entry{Route: r.Name, From: from, By: by, Subject: subject, Refused: known.Data.Reason})
	return api.NewError(known.Data.Reason, subject)
}

func (g *Gate) admit(r *Row, from api.NodeID, by, of api.Principal, subject string, why Who) {
	g.record(Entry{Route: r.Name, From: from, By: by, Of: of, Subject: subject, Why: why})
}

func (g *Gate) record(e Entry) {
	if g.cfg.Record != nil && e.From != g.cfg.Self {
		g.cfg.Record(e)
	}
}

// params reads the parameters of a call.
func params(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		if e, known := errors.AsType[*api.Error](err); known {
			return e
		}
		return api.Errorf(api.ReasonMalformedMessage, "params", "The parameters are not those of the method.")
	}
	return nil
}

// Handler serves a route. Only the functions of this package make one.
type Handler struct {
	row  *Row
	call func(ctx context.Context, g *Gate, from api.NodeID, raw json.RawMessage) (any, error)
}

// proof is what a route's check has found: the value that the handler gets, and what is
// recorded of it.
type proof[A any] struct {
	value   A
	by, of  api.Principal
	subject string
	why     Who
}

// proven makes a handler that gets what was proven to it.
func proven[P, A any](row *Row, check func(g *Gate, from api.NodeID, p P) (proof[A], error), h func(context.Context, A, P) (any, error)) Handler {
	return Handler{row, func(ctx context.Context, g *Gate, from api.NodeID, raw json.RawMessage) (any, error) {
		var p P
		if err := params(raw, &p); err != nil {
			return nil, g.refuse(row, from, api.Principal{}, "", err)
		}
		found, err := check(g, from, p)
		if err != nil {
			return nil, g.refuse(row, from, found.by, found.subject, err)
		}
		g.admit(row, from, found.by, found.of, found.subject, found.why)
		return h(ctx, found.value, p)
	}}
}

// provenStream is the same for a connection. Where it is refused the handler is given
// why, to say it in the connection's own words.
func provenStream[A any](row *Row, check func(g *Gate, from api.NodeID, first api.PeerConn) (proof[A], error), h func(ctx context.Context, value A, refused error, first api.PeerConn, conn net.Conn)) StreamHandler {
	return StreamHandler{row, func(ctx context.Context, g *Gate, from api.NodeID, first api.PeerConn, conn net.Conn) {
		found, err := check(g, from, first)
		if err != nil {
			err = g.refuse(row, from, found.by, found.subject, err)
		} else {
			g.admit(row, from, found.by, found.of, found.subject, found.why)
		}
		h(ctx, found.value, err, first, conn)
	}}
}

// known is what is known of a job; the error says that there is none, or none any more.
func (g *Gate) known(job api.JobID) (Known, error) {
	k, found := g.cfg.Known(job)
	switch {
	case !found:
		return Known{}, api.NewError(api.ReasonNoSuchJob, string(job))
	case k.Gone:
		return Known{}, api.NewError(api.ReasonJobDeleted, string(job))
	}
	return k, nil
}

// NameOf is the name of the route that a call is for: the method, and of peer.job the
// request with it.
func NameOf(method string, raw json.RawMessage) string {
	if method != "peer.job" {
		return method
	}
	var p struct {
		RequestKind api.JobRequestKind `json:"wish"`
	}
	if json.Unmarshal(raw, &p) != nil || !p.RequestKind.Valid() {
		return method
	}
	return method + "/" + string(p.RequestKind)
}
