package command

import (
	"encoding/json"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const jobA = api.JobID("j4k2m9xq7")

// fakeJob is a job as a daemon would keep it: documents and output, which are
// given anew to whoever comes again.
type fakeJob struct {
	t    *testing.T
	spec api.JobSpec

	mu      sync.Mutex
	more    *sync.Cond
	job     api.Job
	ranks   map[string]api.Rank
	ports   []api.PublishedPort
	changes []api.JobChanged
	pieces  []api.JobOutput
	offsets map[string]int64
	input   []byte
	giver   string // who may give more
	ended   bool   // the input
	away    bool   // the Macs that have the output, when the job ends
	seq     uint64
	signals chan os.Signal
}

// fake gives the rig a job that is submitted, watched, read, fed and stopped.
func (r *rig) fake() *fakeJob {
	f := &fakeJob{t: r.t, ranks: map[string]api.Rank{}, offsets: map[string]int64{}, signals: make(chan os.Signal, 8)}
	f.more = sync.NewCond(&f.mu)
	f.job = api.Job{Home: studio, Epoch: 1, Phase: api.JobQueued, PhaseSince: before(0), Principal: api.Principal{User: "ada", Node: studio}}
	r.app.timeout, r.app.settle = 10*time.Second, time.Millisecond
	r.app.Signals = func(...os.Signal) (<-chan os.Signal, func()) { return f.signals, func() {} }
	r.app.Folder, r.app.Environment.Home = "/home/ada/work", "/home/ada"
	r.daemon.Set("job.submit", func(raw json.RawMessage) (any, error) {
		var p api.JobSubmitParams
		is.New(r.t).NoErr(json.Unmarshal(raw, &p))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.spec = p.Request.Spec(jobA, f.job.Principal, before(0))
		f.job.Spec, _ = json.Marshal(f.spec)
		return api.JobSubmitResult{Job: jobA}, nil
	})
	r.daemon.Set("job.get", func(json.RawMessage) (any, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.snapshot(), nil
	})
	r.daemon.Set("job.input", f.feed)
	r.daemon.Set("job.stop", func(raw json.RawMessage) (any, error) { return api.Empty{}, nil })
	r.daemon.Set("job.resize", func(raw json.RawMessage) (any, error) { return api.Empty{}, nil })
	r.daemon.SetStream("job.watch", f.watch)
	r.daemon.SetStream("job.logs", f.logs)
	return f
}

// feed takes input.
func (f *fakeJob) feed(raw json.RawMessage) (any, error) {
	var p api.JobInputParams
	is.New(f.t).NoErr(json.Unmarshal(raw, &p))
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.OffsetBytes == api.InputAfterAll {
		f.giver, p.OffsetBytes = p.Giver, int64(len(f.input))
	}
	if p.Giver != f.giver {
		return nil, api.NewError(api.ReasonInputElsewhere, string(jobA))
	}
	f.input = append(f.input[:p.OffsetBytes], p.Data...)
	f.ended = p.End
	f.more.Broadcast()
	return api.JobInputResult{OffsetBytes: int64(len(f.input))}, nil
}

// doc is a document of the job.
func (f *fakeJob) doc(kind api.Kind, name string, value any) api.Document {
	f.seq++
	d := api.Document{Node: studio, Kind: kind, Name: name, Inc: 1, Seq: f.seq, At: before(0)}
	is.New(f.t).NoErr(d.SetValue(value))
	return d
}

func (f *fakeJob) snapshot() api.JobGetResult {
	out := api.JobGetResult{Job: f.doc(api.KindJob, string(jobA), f.job), Ranks: []api.Document{}, Published: f.ports}
	for name, r := range f.ranks {
		out.Ranks = append(out.Ranks, f.doc(api.KindRank, name, r))
	}
	return out
}

func (f *fakeJob) watch(json.RawMessage) (any, func(func(any) error), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := len(f.changes)
	if f.job.Phase.Ended() {
		from-- // the terminal one comes again
	}
	return api.JobWatchResult{Sub: "s1", JobGetResult: f.snapshot()}, func(notify func(any) error) {
		follow(f, func() []api.JobChanged { return f.changes[from:] }, func(c api.JobChanged, n uint64) error {
			c.N = n
			return notify(c)
		})
	}, nil
}

func (f *fakeJob) logs(json.RawMessage) (any, func(func(any) error), error) {
	return api.JobLogsResult{Sub: "s2"}, func(notify func(any) error) {
		follow(f, func() []api.JobOutput { return f.pieces }, func(p api.JobOutput, n uint64) error {
			p.N = n
			return notify(p)
		})
	}, nil
}

// follow sends what there is and what comes, until the client is gone or the test
// is over.
func follow[T any](f *fakeJob, all func() []T, send func(T, uint64) error) {
	for n := 0; ; n++ {
		f.mu.Lock()
		for n >= len(all()) {
			f.more.Wait()
		}
		next := all()[n]
		f.mu.Unlock()
		if send(next, uint64(n+1)) != nil {
			return
		}
	}
}

// change changes the job and tells it.
func (f *fakeJob) change(do func(*api.Job)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(&f.job)
	f.changes = append(f.changes, api.JobChanged{Put: []api.Document{f.doc(api.KindJob, string(jobA), f.job)}})
	f.more.Broadcast()
}

// rank changes a rank and tells it.
func (f *fakeJob) rank(r api.Rank) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, api.JobChanged{Put: []api.Document{f.doc(api.KindRank, api.RankRef{Job: r.Job, Attempt: r.Attempt, Rank: r.Rank}.String(), r)}})
	f.more.Broadcast()
}

// runs has the job run on studio and mini.
func (f *fakeJob) runs() {
	f.change(func(j *api.Job) {
		j.Phase, j.Attempt = api.JobRunning, 1
		j.Attempts = []api.Attempt{{Attempt: 1, StartedAt: before(0), Plan: &api.Plan{
			Backend: api.BackendRing, Shape: api.ShapeRing, Unencrypted: true,
			Ranks: []api.PlanRank{{Rank: 0, Node: studio, GPU: api.GPUExclusive}, {Rank: 1, Node: mini, GPU: api.GPUExclusive}},
		}}}
	})
}

// prints adds output of a rank.
func (f *fakeJob) prints(rank int, stream api.OutputStream, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := string(stream) + string(rune('0'+rank))
	f.pieces = append(f.pieces, api.JobOutput{OutputPiece: api.OutputPiece{Attempt: 1, Rank: rank, Stream: stream, OffsetBytes: f.offsets[key], Data: []byte(text)}})
	f.offsets[key] += int64(len(text))
	f.more.Broadcast()
}

// ends ends the job and its output.
func (f *fakeJob) ends(phase api.JobPhase, code int, do func(*api.Job)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.job.Phase, f.job.ExitCode, f.job.EndedAt = phase, &code, before(0)
	if do != nil {
		do(&f.job)
	}
	last := api.JobChanged{Put: []api.Document{f.doc(api.KindJob, string(jobA), f.job)}, Terminal: true, ExitCode: &code}
	f.changes = append(f.changes, last)
	if !f.away {
		f.pieces = append(f.pieces, api.JobOutput{Terminal: true})
	}
	f.more.Broadcast()
}

// gives adds a piece of the output without data.
func (f *fakeJob) gives(p api.JobOutput) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.Attempt = 1
	f.pieces = append(f.pieces, p)
	f.more.Broadcast()
}

// failed says that rank 1 failed.
func failed(j *api.Job) {
	one, code := 1, 42
	j.Reason, j.Message = api.ReasonRankFailed, ""
	j.Attempts[0].Reason, j.Attempts[0].FirstFailed, j.Attempts[0].ExitCode = api.ReasonRankFailed, &one, &code
}

// awaitInput waits until all input has come.
func (f *fakeJob) awaitInput() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.ended {
		f.more.Wait()
	}
	return string(f.input)
}

// interrupt is Ctrl-C.
func (f *fakeJob) interrupt() { f.signals <- syscall.SIGINT }
