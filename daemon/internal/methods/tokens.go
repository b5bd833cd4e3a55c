package methods

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// tokensSpan is the time over which tokens are counted at least, and tokensStale how old a
	// count may be that another is compared with.
	tokensSpan, tokensStale = time.Second, 30 * time.Second
	// tokensWithin bounds one look at metrics, maxMetrics what is read of them.
	tokensWithin, maxMetrics = 2 * time.Second, 1 << 20
)

// counted is how many tokens a job had made at a time.
type counted struct {
	tokens float64
	at     time.Duration // on Boot
}

// tokens says how many tokens a second jobs make, while somebody asks.
type tokens struct {
	clock       native.Clock
	span, stale time.Duration
	http        *http.Client

	mu   sync.Mutex
	last map[api.JobID]counted
}

func newTokens(clock native.Clock) *tokens {
	return &tokens{clock: clock, span: tokensSpan, stale: tokensStale, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, last: map[api.JobID]counted{}}
}

// rate is that of a job whose metrics are at a port of this node.
func (t *tokens) rate(ctx context.Context, id api.JobID, port int, m api.Metrics) (float64, error) {
	before, err := t.before(ctx, id, port, m)
	if err != nil {
		return 0, err
	}
	now, err := t.count(ctx, port, m)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	t.last[id] = now
	for other, one := range t.last { // of those that nobody asks for any more
		if now.at-one.at > t.stale {
			delete(t.last, other)
		}
	}
	t.mu.Unlock()
	return max(0, now.tokens-before.tokens) / (now.at - before.at).Seconds(), nil // it may have been started again
}

// before is what now is compared with: the last count, or one from before a moment.
func (t *tokens) before(ctx context.Context, id api.JobID, port int, m api.Metrics) (counted, error) {
	t.mu.Lock()
	last, isKnown := t.last[id]
	t.mu.Unlock()
	age := t.clock.Boot() - last.at
	var err error
	if !isKnown || age > t.stale {
		if last, err = t.count(ctx, port, m); err != nil {
			return last, err
		}
		age = 0
	}
	if age < t.span && !native.Pause(ctx, t.clock, t.span-age) {
		return last, context.Cause(ctx)
	}
	return last, nil
}

// count reads the metrics once. Its error is a part of a sentence.
func (t *tokens) count(ctx context.Context, port int, m api.Metrics) (counted, error) {
	ctx, cancel := native.WithTimeout(ctx, t.clock, tokensWithin, "the engine's metrics")
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, urlOf(port)+m.Path, nil)
	if err != nil {
		return counted{}, err
	}
	response, err := t.http.Do(request)
	if err != nil {
		return counted{}, fmt.Errorf("the engine does not answer at %s", m.Path)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return counted{}, fmt.Errorf("the engine answers %d at %s", response.StatusCode, m.Path)
	}
	sum, isThere := seriesOf(io.LimitReader(response.Body, maxMetrics), m.Series)
	if !isThere {
		return counted{}, fmt.Errorf("they have no %s", m.Series)
	}
	return counted{sum, t.clock.Boot()}, nil
}

// seriesOf adds up the samples of a series in Prometheus' text format.
func seriesOf(text io.Reader, series string) (sum float64, isThere bool) {
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		rest, isIt := strings.CutPrefix(lines.Text(), series)
		if labels := strings.LastIndexByte(rest, '}'); isIt && strings.HasPrefix(rest, "{") && labels > 0 {
			rest = " " + rest[labels+1:]
		}
		fields := strings.Fields(rest)
		if !isIt || len(fields) == 0 || rest[0] != ' ' && rest[0] != '\t' {
			continue // another, or a comment
		}
		if value, err := strconv.ParseFloat(fields[0], 64); err == nil && !math.IsNaN(value) && !math.IsInf(value, 0) {
			sum, isThere = sum+value, true
		}
	}
	return sum, isThere
}

// add says how many tokens a second instances make that are ready.
func (t *tokens) add(ctx context.Context, all []api.Instance, metrics map[api.JobID]*api.Metrics) {
	var working sync.WaitGroup
	for i := range all {
		one := &all[i]
		working.Go(func() {
			sum, ready := 0.0, 0
			for _, r := range replicasIn(one) {
				if r.ReadyAt.IsZero() {
					continue
				}
				ready++
				m := metrics[r.Job]
				if m == nil {
					one.TokensMessage = "The engine's file names no metrics."
					return
				}
				rate, err := t.rate(ctx, r.Job, r.Port, *m)
				if err != nil {
					one.TokensMessage = "The engine's metrics cannot be read: " + err.Error() + "."
					return
				}
				sum += rate
			}
			if ready > 0 {
				one.TokensPerS = &sum
			}
		})
	}
	working.Wait()
}
