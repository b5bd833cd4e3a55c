package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/native/nativetest/testkit"
)

// requestWithin is how long a request may take, whatever happens to the service meanwhile.
const requestWithin = 3 * time.Minute

// answered is how a request to an endpoint ended.
type answered struct {
	status int
	body   string
	took   time.Duration
	err    error
}

// isWhole reports whether the answer came whole.
func (a answered) isWhole() bool {
	return a.err == nil && a.status == http.StatusOK && (strings.HasSuffix(a.body, "data: [DONE]\n\n") || strings.Contains(a.body, `"choices"`) && json.Valid([]byte(a.body)))
}

// isRefused reports whether it is an error as OpenAI's clients know them: in place of the
// answer, or as the last event of one.
func (a answered) isRefused() bool {
	body := a.body
	if i := strings.LastIndex(body, "data: "); a.status == http.StatusOK && i >= 0 {
		body = body[i+len("data: "):]
	}
	var problem struct {
		Error json.RawMessage `json:"error"` // an engine may have its own form
	}
	return a.err == nil && json.Unmarshal([]byte(body), &problem) == nil && len(problem.Error) > 0
}

// storm asks for a model again and again while its ranks are killed and stopped, cables are
// pulled and daemons killed: each request ends whole or with the right error, and within its
// time.
func (j *jobs) storm(t *testing.T, id api.JobID, ranks int, asked *testcluster.Node, asks func(ctx context.Context, stream bool) answered) {
	is := is.New(t)
	faults, requests := 5, 50
	if os.Getenv("FULMEN_SOAK") != "" {
		faults, requests = 50, 1000
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Duration(faults)*time.Minute+requestWithin)
	defer stop()
	var begun atomic.Int64
	var mu sync.Mutex
	var whole, refused int
	var longest time.Duration
	faulted := make(chan struct{}) // closed when all faults are over
	var all sync.WaitGroup
	for worker := range 3 {
		all.Go(func() {
			for ctx.Err() == nil {
				isLast := begun.Add(1) > int64(requests)
				select {
				case <-faulted:
					if isLast {
						return
					}
				default:
				}
				within, end := context.WithTimeout(ctx, requestWithin)
				a := asks(within, worker == 0)
				end()
				mu.Lock()
				longest = max(longest, a.took)
				switch {
				case a.isWhole():
					whole++
				case a.isRefused():
					refused++
					t.Logf("refused after %v: %d %q", a.took, a.status, a.body)
				default:
					t.Errorf("a request ended after %v with %d, %v: %q", a.took, a.status, a.err, a.body)
				}
				mu.Unlock()
			}
		})
	}
	random := testkit.Drawn(t).Source(0)
	for n := range faults {
		job, found := j.until(t, j.Nodes[0], id, "a service that is ready", timeout, func(job api.Job, found []api.Rank) bool {
			return job.Phase == api.JobRunning && len(found) == ranks && !found[0].ReadyAt.IsZero() && !slices.ContainsFunc(found, func(r api.Rank) bool { return r.PID == 0 })
		})
		rank := found[random.IntN(len(found))]
		fault := []string{"kill", "stop", "pull", "daemon", "kill"}[n%5]
		t.Logf("%s: rank %d of attempt %d", fault, rank.Rank, job.Attempt)
		switch fault {
		case "kill":
			must(t, fault, syscall.Kill(rank.PID, syscall.SIGKILL))
		case "stop":
			must(t, fault, syscall.Kill(rank.PID, syscall.SIGSTOP))
		case "pull":
			j.pull(t, job)
		case "daemon":
			at := j.nodeOf(job, 0)
			if at == asked { // who is asked has to be there
				at = j.nodeOf(job, 1)
			}
			at.End(syscall.SIGKILL)
			must(t, "a new start", at.Boot(t.Context()))
			must(t, "a whole cluster", j.Whole(t.Context()))
		}
		if fault == "kill" || fault == "stop" {
			j.until(t, j.Nodes[0], id, "end of the attempt", timeout, func(now api.Job, _ []api.Rank) bool { return now.Attempt > job.Attempt })
		}
	}
	j.until(t, j.Nodes[0], id, "a service that is ready", timeout, func(job api.Job, found []api.Rank) bool {
		return job.Phase == api.JobRunning && len(found) == ranks && !found[0].ReadyAt.IsZero()
	})
	close(faulted)
	all.Wait()
	t.Logf("%d faults: %d requests were answered and %d refused; the longest took %v", faults, whole, refused, longest.Round(time.Millisecond))
	is.True(whole >= requests/2)
}

// nodeOf is where a rank of the current attempt runs.
func (j *jobs) nodeOf(job api.Job, rank int) *testcluster.Node {
	for _, p := range job.Attempts[len(job.Attempts)-1].Plan.Ranks {
		for _, n := range j.Nodes {
			if p.Rank == rank && n.ID == p.Node {
				return n
			}
		}
	}
	return j.Nodes[0]
}

// pull unplugs the cables between the Macs of a job, and plugs them again.
func (j *jobs) pull(t *testing.T, job api.Job) {
	t.Helper()
	a, b := j.nodeOf(job, 0), j.nodeOf(job, 1)
	for _, c := range call[api.LinkListResult](t, j.Nodes[0].Client, "link.list", nil).Cables {
		low, isA := c.Link.End(a.ID)
		high, isB := c.Link.End(b.ID)
		if !c.Link.Valid() || !isA || !isB {
			continue
		}
		ends := []string{fmt.Sprintf("%s.tb%d", a.Mac, low.PortNumber), fmt.Sprintf("%s.tb%d", b.Mac, high.PortNumber)}
		for _, line := range []string{"unplug " + ends[0], "plug " + ends[0] + " " + ends[1] + " 80G"} {
			change(t, j.Nodes[0].Client, line)
			eventually(t, line, after, func() bool {
				for _, now := range call[api.LinkListResult](t, j.Nodes[0].Client, "link.list", nil).Cables {
					if now.Link == c.Link {
						return strings.HasPrefix(line, "plug")
					}
				}
				return strings.HasPrefix(line, "unplug")
			})
		}
	}
}

// asks has the endpoint of a Mac asked for a model, with a key of the account there.
func (j *jobs) asks(t *testing.T, at *testcluster.Node, model string) func(ctx context.Context, stream bool) answered {
	t.Helper()
	call[api.Empty](t, at.Client, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"endpoint.wait": json.RawMessage(`"2m"`)}})
	made := end(t, j.fulmen(t.Context(), at, "token", "create", "e2e", "--endpoint"))
	if made.status != api.ExitOK {
		t.Fatalf("a key: %+v", made)
	}
	url := call[api.InstanceListResult](t, at.Client, "instance.list", api.Empty{}).Endpoint
	return func(ctx context.Context, stream bool) (a answered) {
		began := time.Now()
		defer func() { a.took = time.Since(began) }()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions",
			strings.NewReader(fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hello"}],"max_tokens":4,"stream":%t}`, model, stream)))
		if err != nil {
			return answered{err: err}
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(made.out))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return answered{err: err}
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return answered{status: response.StatusCode, body: string(body), err: err}
	}
}
