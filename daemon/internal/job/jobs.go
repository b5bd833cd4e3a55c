package job

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/beat"
	"fulmen/daemon/internal/job/phase"
)

// Jobs is the controller. Every method may be called from any goroutine; those
// that need the stored jobs wait until Run has read them.
type Jobs struct {
	cfg    Config
	beater *beat.Beater
	ctx    context.Context // of everything that runs
	cancel context.CancelFunc
	ready  chan struct{} // closed once the stored jobs are there
	// changes counts what a place may be found by.
	changes atomic.Uint64

	life    sync.Mutex
	closed  bool
	running sync.WaitGroup

	awake   awake
	beating sync.Mutex // orders what the beater is told
	submits sync.Mutex // one request_id is looked up and taken in one step
	purging sync.Mutex // old jobs are deleted once
	// remembering orders what is written to Memory.
	remembering sync.Mutex

	mu       sync.Mutex
	jobs     map[api.JobID]*known
	line     line
	values   map[api.JobID]map[string]string // of environment variables
	requests map[requestKey]api.JobID
	applies  map[declaration]bool // names of which somebody changes what they name
	loaded   bool
	nothing  body // what is left of deleted jobs
	memory   map[api.JobID]Remembered
}

type requestKey struct {
	by api.Principal
	id string
}

// New makes a controller and sets what answers peer.job, peer.hold and peer.vote.
func New(cfg Config) (*Jobs, error) {
	memory, err := cfg.Memory.LoadJobs()
	if err != nil {
		return nil, err
	}
	if memory == nil {
		memory = map[api.JobID]Remembered{}
	}
	cfg.Keep = cmp.Or(cfg.Keep, DefaultKeep)
	j := &Jobs{cfg: cfg, line: line{by: map[string][]waiter{}}, ready: make(chan struct{}), jobs: map[api.JobID]*known{}, memory: memory,
		values: map[api.JobID]map[string]string{}, requests: map[requestKey]api.JobID{}, applies: map[declaration]bool{}}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	j.beater = beat.New(beat.Config{Self: cfg.Node, Clock: cfg.Clock, Link: cfg.Beats, Times: cfg.BeatTimes,
		Lost: func(n api.NodeID, silent time.Duration) { j.beats(n, silent, true) },
		Back: func(n api.NodeID) { j.beats(n, 0, false) }})
	cfg.Beats.HungUp(j.allowSilence)
	cfg.Peers.HandleCall(gate.HandleOffer(gate.SubmitJob, loaded(j, j.handed)))
	cfg.Peers.HandleCall(gate.HandlePerson(gate.StopJob, loaded(j, j.stopRequested)))
	cfg.Peers.HandleCall(gate.HandlePerson(gate.DeleteJob, loaded(j, j.deleteRequested)))
	cfg.Peers.HandleCall(gate.HandleValues(gate.JobValues, loaded(j, j.valuesRequested)))
	cfg.Peers.HandleCall(gate.HandleMember(gate.Hold, loaded(j, j.handleHold)))
	cfg.Peers.HandleCall(gate.HandleVote(gate.VoteHome, loaded(j, j.handleVote)))
	return j, nil
}

// Run goes on with the stored jobs and works until ctx ends. Ranks run on after
// that: whoever runs next finds them.
func (j *Jobs) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, j.cancel)
	defer stop()
	unwatch := j.cfg.Presence.Watch(j.presenceChanged)
	records, jobs := j.followJobs()
	j.load(records)
	facts := j.followFacts()
	if j.cfg.UseChanged != nil {
		j.cfg.UseChanged()
	}
	close(j.ready)
	j.spawn(func() { j.hints(facts) })
	_ = jobs.Each(j.ctx, nil, j.see)
	unwatch()
	j.cancel()
	j.beater.Close()
	j.life.Lock()
	j.closed = true
	j.life.Unlock()
	j.running.Wait()
	return nil
}

// spawn runs f on a goroutine that Run waits for; false after the end.
func (j *Jobs) spawn(f func()) bool {
	j.life.Lock()
	defer j.life.Unlock()
	if j.closed || j.ctx.Err() != nil {
		return false
	}
	j.running.Go(f)
	return true
}

// wait waits until the stored jobs are loaded.
func (j *Jobs) wait(ctx context.Context) error {
	select {
	case <-j.ready:
		if j.ctx.Err() != nil {
			return api.NewError(api.ReasonStopping, "")
		}
		return nil
	case <-j.ctx.Done():
		return api.NewError(api.ReasonStopping, "")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loaded has other nodes' calls answered once the stored jobs are there.
func loaded[W, P any](j *Jobs, do func(context.Context, W, P) (any, error)) func(context.Context, W, P) (any, error) {
	return func(ctx context.Context, who W, params P) (any, error) {
		if err := j.wait(ctx); err != nil {
			return nil, err
		}
		return do(ctx, who, params)
	}
}

func (j *Jobs) now() api.Time { return api.TimeOf(j.cfg.Clock.Now()) }

// name is what people call a node.
func (j *Jobs) name(id api.NodeID) string { return j.cfg.Name(id) }

// presence gives the nodes that are members and those that are reachable now.
func (j *Jobs) presence() phase.Presence {
	s := phase.Presence{Members: slices.Clone(j.cfg.Presence.Members()), Reached: slices.Clone(j.cfg.Presence.Reached())}
	slices.Sort(s.Members)
	slices.Sort(s.Reached)
	return s
}

// presenceChanged tells every job who is there, and who is there that this node is.
func (j *Jobs) presenceChanged() {
	j.spawn(j.beater.Now) // the caller may hold what sending needs
	j.changes.Add(1)
	for _, a := range j.actors() {
		a.post(a.look)
	}
}

func (j *Jobs) actors() []*actor {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []*actor
	for _, k := range j.jobs {
		if k.actor != nil {
			all = append(all, k.actor)
		}
	}
	return all
}

// beats passes on what the beater noticed.
func (j *Jobs) beats(node api.NodeID, silent time.Duration, lost bool) {
	for _, a := range j.actors() {
		a.post(func() { a.received(node, silent, lost) })
	}
}
