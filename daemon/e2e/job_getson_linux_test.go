package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/stall"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
	"fulmen/native/procsockets"
)

// TestJobsGetOn runs real programs for an hour: a training loop with its pauses, a model
// that is served, idle and under requests, short and long, and an idle HTTP server. None may
// ever be said to be stalled. FULMEN_SOAK=1 has it run, FULMEN_SOAK=N for N minutes; with
// FULMEN_RECORD it writes there what the rules about stalls rest on: see package stall.
func TestJobsGetOn(t *testing.T) {
	minutes, err := strconv.Atoi(os.Getenv("FULMEN_SOAK"))
	if err != nil {
		t.Skip("FULMEN_SOAK is not set")
	}
	if minutes < 2 {
		minutes = 60
	}
	needJobs(t)
	j := newJobs(t, 2, unhurried)
	j.needMLXLM(t)
	at, ports := j.Nodes[0], [2]int{freePort(t), freePort(t)}
	// Of another node than the one that it was submitted on, so that requests pass both daemons.
	placed := []string{"--gpu", "none", "--backend", "ring", "--rank0", string(j.Nodes[1].ID)}
	begin := func(args ...string) api.JobID {
		return j.detached(t, at, append(placed[:len(placed):len(placed)], args...)...)
	}
	served := []string{"--publish", fmt.Sprint(ports[0]), "--readiness-probe", fmt.Sprintf("%d/health", ports[0]), "--on-stall", "warn", "--"}
	all := []*recorded{
		{name: "train", id: begin("-n", "2", "--", j.Python, j.Program("paces.py"), j.Work)},
		{name: "server", id: begin(append(append([]string{"-n", "2"}, served...), j.Python, "-m", "mlx_lm", "server", "--model", j.model(t), "--port", fmt.Sprint(ports[0]))...)},
		{name: "http", id: begin("-n", "1", "--publish", fmt.Sprint(ports[1]), "--", j.Python, "-m", "http.server", "--bind", "127.0.0.1", fmt.Sprint(ports[1]))},
	}
	for _, r := range all {
		r.record(t)
		_, ranks := j.until(t, at, r.id, r.name+" that runs", timeout, func(job api.Job, _ []api.Rank) bool { return job.Phase == api.JobRunning })
		for _, rank := range ranks {
			r.pids = append(r.pids, rank.PID)
		}
		r.before = make([]stall.Reading, len(r.pids))
	}
	published := func(r *recorded) (url string) {
		eventually(t, "its port", soon, func() bool {
			all := j.published(t, at, r.id)
			if len(all) == 1 && len(all[0].Addresses) > 0 {
				url = "http://" + all[0].Addresses[0].String()
			}
			return url != ""
		})
		return url
	}
	model, files := published(all[1])+"/v1/chat/completions", published(all[2])+"/"
	end := time.Now().Add(time.Duration(minutes) * time.Minute)
	var asked, answered atomic.Int64
	go all[1].ask(t, end, func(random *rand.Rand) error {
		tokens, prompt := 1+random.IntN(200), strings.Repeat("word ", 1+random.IntN(2)*random.IntN(1200))
		body := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"max_tokens":%d}`, prompt, tokens)
		asked.Add(1)
		response, err := http.Post(model, "application/json", strings.NewReader(body))
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			answered.Add(1)
		}
		return err
	})
	go all[2].ask(t, end, func(*rand.Rand) error {
		response, err := http.Get(files)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	})
	looks := 0
	// Nothing announces what a program does.
	for ticker := time.NewTicker(stall.Every); time.Now().Before(end) && !t.Failed(); <-ticker.C {
		looks++
		for _, r := range all {
			job, ranks, err := jobOf(t.Context(), at.Client, r.id)
			must(t, r.name, err)
			if job.Phase != api.JobRunning || job.Reason == api.ReasonStalled || job.Attempt != 1 {
				text, _ := json.MarshalIndent(map[string]any{"job": job, "ranks": ranks}, "", " ")
				t.Errorf("%s after %d looks:\n%s", r.name, looks, text)
			}
			r.look(ranks)
		}
	}
	t.Logf("%d minutes, %d looks at %d jobs; %d of %d requests were answered", minutes, looks, len(all), answered.Load(), asked.Load())
	for _, r := range all {
		j.haltJob(t, r.id)
	}
}

// recorded is a job whose ranks are looked at.
type recorded struct {
	name   string
	id     api.JobID
	pids   []int
	before []stall.Reading
	owes   atomic.Int64 // since when, in nanoseconds; 0 = nothing
	out    *bufio.Writer
}

// ask asks again and again, with pauses.
func (r *recorded) ask(t *testing.T, until time.Time, one func(*rand.Rand) error) {
	random := testkit.Fixed(t, 1).Source(0)
	for time.Now().Before(until) {
		r.owes.Store(time.Now().UnixNano())
		err := one(random)
		r.owes.Store(0)
		if err != nil {
			t.Log(r.name, err) // the first ones come before it listens
		}
		pause := time.Duration(random.IntN(3)) * time.Duration(random.IntN(9)) * time.Second
		select {
		case <-time.After(pause):
		case <-t.Context().Done():
			return
		}
	}
}

// record writes what is seen, where that is wanted.
func (r *recorded) record(t *testing.T) {
	folder := os.Getenv("FULMEN_RECORD")
	if folder == "" {
		r.out = bufio.NewWriter(io.Discard)
		return
	}
	file, err := os.Create(filepath.Join(folder, r.name+".txt"))
	must(t, "a recording", err)
	r.out = bufio.NewWriter(file)
	fmt.Fprintln(r.out, "# rank ms printed file faults network owed_ms thread:user_ms,system_ms...")
	t.Cleanup(func() {
		must(t, "a recording", r.out.Flush())
		must(t, "a recording", file.Close())
	})
}

// look notes what each rank has done since the look before.
func (r *recorded) look(ranks []api.Rank) {
	for i, pid := range r.pids {
		did, err := procsockets.Processes{}.Activity(pid)
		if err != nil {
			continue
		}
		now := stall.Reading{Activity: did, At: time.Duration(time.Now().UnixNano())}
		if i < len(ranks) && ranks[i].Output != nil {
			now.Printed = ranks[i].Output.OutBytes + ranks[i].Output.ErrBytes
		}
		if since := r.owes.Load(); i == 0 && since != 0 {
			now.OwesFor = now.At - time.Duration(since)
		}
		was := r.before[i]
		r.before[i] = now
		if was.At == 0 {
			continue
		}
		fmt.Fprint(r.out, line(i, was, now))
	}
}

// line is one reading, as the difference to the one before.
func line(rank int, was, now stall.Reading) string {
	var text bytes.Buffer
	network := int64(0)
	if was.NetworkBytes != nil && now.NetworkBytes != nil {
		network = int64(*now.NetworkBytes) - int64(*was.NetworkBytes)
	}
	fmt.Fprintf(&text, "%d %d %d %d %d %d %d", rank, (now.At - was.At).Milliseconds(), now.Printed-was.Printed,
		int64(now.FileBytes)-int64(was.FileBytes), int64(now.Faults)-int64(was.Faults), network, now.OwesFor.Milliseconds())
	before := map[uint64]native.Thread{}
	for _, one := range was.Threads {
		before[one.ID] = one
	}
	for k, one := range now.Threads {
		user, system := one.User-before[one.ID].User, one.System-before[one.ID].System
		if user+system > 0 {
			fmt.Fprintf(&text, " %d:%d,%d", k, user.Milliseconds(), system.Milliseconds())
		}
	}
	return text.String() + "\n"
}
