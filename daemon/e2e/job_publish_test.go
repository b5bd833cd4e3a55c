package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
)

// TestPublish reaches a port of rank 0, which runs on another node.
func TestPublish(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	j := newJobs(t, 2, unhurried)
	j.needPython(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"a port on the loopback", j.testPublish},
		{"a port on the network", j.testPublishLAN},
		{"a port that is taken", j.testPublishTaken},
		{"on its own node", j.testPublishHere},
		{"a Mac that sleeps", j.testSleeps},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t)
			j.grantsAreBack(t)
		})
	}
}

// serves starts a job that publishes a port and waits until it runs: rank 0 is on
// a node, and the job is the first node's.
func (j *jobs) serves(t *testing.T, rank0 *testcluster.Node, publish string, port int) api.JobID {
	t.Helper()
	id := j.detached(t, j.Nodes[0], "-n", "2", "--backend", "ring", "--allow-solo", "--rank0", string(rank0.ID), "--publish", publish,
		"--", j.Python, j.Program("serve.py"), fmt.Sprint(port))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		defer cancel()
		end(t, j.fulmen(ctx, j.Nodes[0], "job", "stop", "--kill", string(id)))
	})
	_, ranks := j.until(t, j.Nodes[0], id, "rank 0 that listens", timeout, func(job api.Job, ranks []api.Rank) bool {
		return isRunning(2)(job, ranks) && slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.Rank == 0 && slices.Contains(r.Ports, port) })
	})
	if len(ranks) != 2 {
		t.Fatalf("%+v", ranks)
	}
	// They open a moment after the job runs.
	eventually(t, "its port", soon, func() bool { return len(j.published(t, j.Nodes[0], id)) == 1 })
	return id
}

// haltJob ends a job of the first node.
func (j *jobs) haltJob(t *testing.T, id api.JobID) {
	t.Helper()
	if got := end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "stop", "--kill", string(id))); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	j.until(t, j.Nodes[0], id, "end", after, hasEnded)
}

// published are a job's ports as a node's daemon tells its owner, who need not be
// who tests it.
func (j *jobs) published(t *testing.T, at *testcluster.Node, id api.JobID) []api.PublishedPort {
	t.Helper()
	got := end(t, j.fulmen(t.Context(), at, "job", "show", "--json", string(id)))
	var result api.JobGetResult
	must(t, "a job: "+got.err, json.Unmarshal([]byte(got.out), &result))
	return result.Published
}

// freePort is a port that nobody holds on the loopback; programs take it by number.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := testcluster.Listen()
	must(t, "a port", err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// get is what a server answers.
func get(t *testing.T, at netip.AddrPort, key string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at.String()+"/word", nil)
	must(t, "a request", err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	client := http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	must(t, "an answer", err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, "an answer", err)
	return answer.StatusCode, string(text)
}

// isOpen reports whether somebody listens.
func isOpen(at netip.AddrPort) bool {
	conn, err := net.DialTimeout("tcp", at.String(), time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// The port is open where the job was submitted while the job runs, it is shown,
// and no other node has it.
func (j *jobs) testPublish(t *testing.T) {
	is := is.New(t)
	port := freePort(t)
	id := j.serves(t, j.Nodes[1], fmt.Sprint(port), port)
	all := j.published(t, j.Nodes[0], id)
	is.Equal(len(all), 1)
	is.Equal(all[0].Problem, nil)
	is.Equal(len(all[0].Addresses), 1)
	at := all[0].Addresses[0]
	is.Equal(int(at.Port()), port)
	is.True(at.Addr().IsLoopback() && at.Addr() != netip.MustParseAddr("127.0.0.1")) // that is the program's own
	status, body := get(t, at, "")
	is.Equal(status, http.StatusOK)
	is.Equal(body, "rank 0 heard /word\n")
	shown := end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "show", string(id)))
	is.True(strings.Contains(shown.out, at.String()))
	is.Equal(len(j.published(t, j.Nodes[1], id)), 0)

	j.haltJob(t, id)
	eventually(t, "end of the port", soon, func() bool { return !isOpen(at) && len(j.published(t, j.Nodes[0], id)) == 0 })
	is.True(!strings.Contains(end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "show", string(id))).out, at.String()))
}

// On the network a request has to bear the job's key, which only the owner is told.
func (j *jobs) testPublishLAN(t *testing.T) {
	is := is.New(t)
	port := freePort(t)
	id := j.serves(t, j.Nodes[1], "lan:"+fmt.Sprint(port), port)
	all := j.published(t, j.Nodes[0], id)
	is.Equal(len(all), 1)
	is.True(all[0].LAN && all[0].Key != "")
	is.Equal(len(all[0].Addresses), 1)
	at := all[0].Addresses[0]
	for key, want := range map[string]int{"": http.StatusUnauthorized, all[0].Key + "x": http.StatusUnauthorized, all[0].Key: http.StatusOK} {
		status, body := get(t, at, key)
		is.Equal(status, want)
		is.Equal(strings.HasPrefix(body, "rank 0 heard"), want == http.StatusOK)
	}
	shown := end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "show", string(id)))
	is.True(strings.Contains(shown.out, "Bearer "+all[0].Key))
	j.haltJob(t, id)
}

// A port that another program holds is refused when the job is submitted.
func (j *jobs) testPublishTaken(t *testing.T) {
	is := is.New(t)
	port := freePort(t)
	id := j.serves(t, j.Nodes[1], fmt.Sprint(port), port)
	at := j.published(t, j.Nodes[0], id)[0].Addresses[0].Addr()
	j.haltJob(t, id)
	var held net.Listener
	eventually(t, "end of the port", soon, func() bool {
		l, err := net.Listen("tcp", netip.AddrPortFrom(at, uint16(port)).String())
		held = l
		return err == nil
	})
	defer held.Close()
	got := end(t, j.run(t, "--publish", fmt.Sprint(port), "--", j.Python, j.Program("serve.py"), fmt.Sprint(port)))
	if want := fmt.Sprintf("Port %d of %s is held by another program", port, at); got.status != api.ExitNotStarted || !strings.Contains(got.err, want) {
		t.Errorf("not %q: %+v", want, got)
	}
	is.True(!strings.Contains(end(t, j.fulmen(t.Context(), j.Nodes[0], "jobs")).out, "serve.py")) // there is no job
}

// Rank 0 on the submitter's own node has the port itself.
func (j *jobs) testPublishHere(t *testing.T) {
	is := is.New(t)
	port := freePort(t)
	id := j.serves(t, j.Nodes[0], fmt.Sprint(port), port)
	all := j.published(t, j.Nodes[0], id)
	is.Equal(len(all), 1)
	is.Equal(len(all[0].Addresses), 0)
	own := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port))
	status, _ := get(t, own, "")
	is.Equal(status, http.StatusOK)
	is.True(strings.Contains(end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "show", string(id))).out, own.String()))
	j.haltJob(t, id)
}
