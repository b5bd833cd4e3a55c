package profile

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// methodProfile is the call by which a node asks another one to measure.
const methodProfile = "peer.profile"

const (
	// askFor is how long one question to another node waits for news.
	askFor = 10 * time.Second
	// answerWithin bounds the answer to it.
	answerWithin = askFor + 10*time.Second
	// askedWithin is how long after the last question a request of another node still
	// counts: who does not ask any more is gone.
	askedWithin = 45 * time.Second
	// cancelWithin bounds the taking of the news that a request is over.
	cancelWithin = 5 * time.Second
	// maxRequests is how many requests another node has at once.
	maxRequests = 64
)

// requestKey is a request of another node.
type requestKey struct {
	from api.NodeID
	id   api.MeasureID
}

// request is something that another node wants measured here.
type request struct {
	run   *run
	timer native.Timer
}

// follow has another node measure a subject of its own, and passes on how far it is.
func (p *Profiler) follow(t *task) *api.Error {
	params := api.PeerProfileParams{Measurement: t.id, Document: t.key, By: t.by, MaxAgeS: t.maxAgeS, WaitS: askFor.Seconds()}
	for {
		var answer api.PeerProfileResult
		within, cancel := native.WithTimeout(t.ctx, p.cfg.Clock, answerWithin, "an answer of "+p.cfg.Name(t.key.Node))
		err := p.cfg.Peers.Call(within, t.key.Node, methodProfile, params, &answer)
		cancel()
		switch {
		case t.ctx.Err() != nil:
			p.callOff(t, params)
			return t.causeOf(t.ctx.Err())
		case err != nil:
			return api.AsError(err)
		}
		if item := answer.Item; isOver(item.State) {
			if item.Error == nil && item.State != api.MeasureDone {
				return api.NewError(api.ReasonCancelled, "")
			}
			return item.Error
		}
		params.N = answer.N
		p.change(t, func(item *api.MeasureItem) {
			*item = answer.Item
			item.Document = t.key
		})
	}
}

// callOff tells another node that its measurement is not wanted any more.
func (p *Profiler) callOff(t *task, params api.PeerProfileParams) {
	within, cancel := native.WithTimeout(context.WithoutCancel(t.ctx), p.cfg.Clock, cancelWithin, p.cfg.Name(t.key.Node))
	defer cancel()
	params.Cancel = true
	if err := p.cfg.Peers.Call(within, t.key.Node, methodProfile, params, nil); err != nil {
		p.cfg.Log.Debug("a measurement could not be called off; it ends by itself", "node", t.key.Node, "error", err)
	}
}

// handleProfile answers peer.profile.
func (p *Profiler) handleProfile(ctx context.Context, caller gate.Member, params api.PeerProfileParams) (any, error) {
	from := caller.Node()
	if err := p.checkRequest(from, params); err != nil {
		return nil, err
	}
	r, err := p.requestOf(ctx, from, params)
	if err != nil {
		return nil, err
	}
	wait := min(max(params.WaitS, 0), askFor.Seconds())
	within, cancel := native.WithTimeout(ctx, p.cfg.Clock, api.Seconds(wait), "news")
	defer cancel()
	for {
		p.mu.Lock()
		answer, changed := api.PeerProfileResult{Item: r.state.Items[0], N: r.version + 1}, r.changed
		p.mu.Unlock()
		if answer.N != params.N || params.Cancel || isOver(answer.Item.State) {
			return answer, nil
		}
		select {
		case <-changed:
		case <-within.Done():
			return answer, nil
		}
	}
}

func (p *Profiler) checkRequest(from api.NodeID, params api.PeerProfileParams) error {
	key := params.Document
	switch {
	case !params.Measurement.Valid():
		return api.Errorf(api.ReasonBadValue, "measurement", "%q is not the id of a measurement.", string(params.Measurement))
	case key.Node != p.cfg.Node || key.Kind != api.KindGPUProfile && key.Kind != api.KindLinkProfile:
		return api.Errorf(api.ReasonBadValue, "document", "%s is not measured here.", key)
	case params.By != (api.Principal{}) && params.By.Node != from:
		return api.Errorf(api.ReasonBadValue, "by", "%s is not a person of the node that asks.", params.By)
	}
	return checkAge(params.MaxAgeS)
}

// requestOf finds or begins the measurement that another node wants.
func (p *Profiler) requestOf(ctx context.Context, from api.NodeID, params api.PeerProfileParams) (*run, error) {
	now := p.conditions(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	k := requestKey{from, params.Measurement}
	w := p.requests[k]
	switch {
	case p.closed:
		return nil, api.NewError(api.ReasonStopping, "")
	case w != nil && w.run.state.Items[0].Document != params.Document:
		return nil, api.Errorf(api.ReasonBadValue, "measurement", "The measurement %s is of something else.", params.Measurement)
	case w == nil && params.Cancel:
		return &run{state: api.Measurement{Items: []api.MeasureItem{{Document: params.Document, State: api.MeasureCancelled}}}}, nil
	case w == nil:
		count := 0
		for other := range p.requests {
			if other.from == from {
				count++
			}
		}
		if count >= maxRequests {
			return nil, api.NewError(api.ReasonMeasureBudgetSpent, string(from))
		}
		w = &request{run: p.beginLocked(order{
			id: api.NewMeasureID(), by: params.By, asked: true, foreign: true, maxAgeS: params.MaxAgeS, keys: []api.Key{params.Document},
			areFresh: []bool{p.freshLocked(params.Document, params.MaxAgeS, now.value)},
		})}
		p.requests[k] = w
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	end := func() {
		p.abandonLocked(w.run, api.NewError(api.ReasonCancelled, ""))
		delete(p.requests, k)
	}
	if params.Cancel {
		end()
		return w.run, nil
	}
	w.timer = p.cfg.Clock.AfterFunc(askedWithin, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.requests[k] == w {
			end()
		}
	})
	return w.run, nil
}
