package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// probePeriod, probeTimeout, probeFailures and startupFailures are what a probe has that
	// does not say so; probeSoon is its period until it has passed once.
	probePeriod, probeTimeout      = 10 * time.Second, 5 * time.Second
	probeFailures, startupFailures = 3, 600
	probeSoon                      = time.Second
	// maxProbed is how much of an answer is read.
	maxProbed = 1 << 20
)

// prober makes the probes of a rank.
type prober struct {
	*Relay
	rank api.RankRef
	try  func(api.Probe) error // once; its error is a part of a sentence
}

// run makes them until ctx ends.
func (r *prober) run(ctx context.Context, p api.Probes) {
	ranks := r.cfg.Ranks
	endAfter := func(most int, what string) func(error, int) bool {
		return func(err error, failures int) bool {
			if err == nil || failures < most {
				return false
			}
			message := fmt.Sprintf("The %s probe of rank 0 failed %d times in a row: %v.", what, failures, err)
			if err := ranks.EndUnanswered(r.rank, message); err != nil {
				r.cfg.Log.Error("a rank whose probe fails could not be ended", "rank", r.rank.String(), "err", err)
			}
			return true
		}
	}
	if p.Readiness != nil {
		ranks.SetReady(r.rank, false, "Rank 0 has not been ready yet.")
	}
	if one := p.Startup; one != nil {
		isOver := endAfter(cmp.Or(one.FailureThreshold, startupFailures), "startup")
		hasStarted := false
		r.repeat(ctx, *one, probeSoon, func(err error, failures int) bool {
			hasStarted = err == nil
			return hasStarted || isOver(err, failures)
		})
		if !hasStarted {
			return
		}
	}
	var all sync.WaitGroup
	defer all.Wait()
	if one := p.Liveness; one != nil {
		all.Go(func() {
			r.repeat(ctx, *one, 0, endAfter(cmp.Or(one.FailureThreshold, probeFailures), "liveness"))
		})
	}
	if one := p.Readiness; one != nil {
		was := false
		r.repeat(ctx, *one, probeSoon, func(err error, failures int) bool {
			switch {
			case err == nil:
				ranks.SetReady(r.rank, true, "")
				was = true
			case !was || failures >= cmp.Or(one.FailureThreshold, probeFailures):
				ranks.SetReady(r.rank, false, fmt.Sprintf("Rank 0 is not ready: %v.", err))
			}
			return false
		})
	}
}

// repeat makes a probe again and again until took says that it is enough, or the rank has
// ended; failures counts those in a row. Until it passes first it rests as long as soon says.
func (r *prober) repeat(ctx context.Context, p api.Probe, soon time.Duration, took func(err error, failures int) bool) {
	rest := cmp.Or(api.Seconds(p.PeriodS), probePeriod)
	soon = min(cmp.Or(soon, rest), rest)
	failures, hasPassed := 0, false
	var paid func() // ends what is owed; nil while nothing is
	defer func() {
		if paid != nil {
			paid()
		}
	}()
	for ctx.Err() == nil {
		if paid == nil {
			paid = r.cfg.Ranks.Owe(r.rank, api.DebtProbe)
		}
		err := r.try(p)
		if !errors.Is(err, errUnanswered) { // what is not there owes nothing
			paid()
			paid = nil
		}
		if ctx.Err() != nil {
			return
		}
		if failures++; err == nil {
			failures, hasPassed = 0, true
		}
		if took(err, failures) {
			return
		}
		pause := rest
		if !hasPassed {
			pause = soon
		}
		native.Pause(ctx, r.cfg.Clock, pause)
	}
}

// errUnanswered is a probe that got no answer, where something listens.
var errUnanswered = errors.New("no answer")

// probe makes a probe once. Its error is a part of a sentence.
func (s *served) probe(p api.Probe) error {
	within := timeoutOf(p)
	ctx, cancel := native.WithTimeout(s.ctx, s.relay.cfg.Clock, within, "an answer to a probe")
	defer cancel()
	what := fmt.Sprintf("a connection to port %d", p.Port)
	if p.Path != "" {
		what = fmt.Sprintf("%s %s at port %d", method(p), p.Path, p.Port)
	}
	answer, err := s.ask(ctx, p)
	switch {
	case errors.Is(err, errOthers):
		return fmt.Errorf("it does not listen at port %d", p.Port)
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%s: %w within %v", what, errUnanswered, within)
	case err != nil:
		s.relay.cfg.Log.Debug("a probe failed", "port", p.Port, "err", err)
		return fmt.Errorf("%s failed", what)
	case answer < 200 || answer > 399:
		return fmt.Errorf("%s was answered by %d %s", what, answer, http.StatusText(answer))
	}
	return nil
}

// ask gives the status of the answer; that of a connection alone is 200.
func (s *served) ask(ctx context.Context, p api.Probe) (status int, err error) {
	if p.Path == "" {
		conn, err := s.connect(ctx, p.Port)
		if err != nil {
			return 0, err
		}
		return http.StatusOK, conn.Close()
	}
	request, err := http.NewRequestWithContext(ctx, method(p), fmt.Sprintf("http://localhost:%d%s", p.Port, p.Path), strings.NewReader(p.Body))
	if err != nil {
		return 0, err
	}
	if p.Body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	transport := http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: maxProbed, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return s.connect(ctx, p.Port)
	}}
	response, err := transport.RoundTrip(request) // which follows no redirect
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	// An engine that answers and never ends its answer does not work either.
	if _, err := io.CopyN(io.Discard, response.Body, maxProbed); err != nil && err != io.EOF {
		return 0, err
	}
	return response.StatusCode, nil
}

func timeoutOf(p api.Probe) time.Duration { return cmp.Or(api.Seconds(p.TimeoutS), probeTimeout) }

func method(p api.Probe) string {
	if p.Body != "" {
		return http.MethodPost
	}
	return http.MethodGet
}
