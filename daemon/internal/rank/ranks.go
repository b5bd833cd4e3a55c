package rank

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
	"fulmen/native/waker"
)

// Ranks are the ranks on this node. They may be used by several goroutines.
type Ranks struct {
	cfg   Config
	ctx   context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup
	ready chan struct{} // closed when all that was there is known again
	dirty waker.Waker   // a document is to be published

	publishing sync.Mutex // before mu

	mu          sync.Mutex
	held        map[api.RankRef]*held
	jobs        map[api.JobID]*fence
	unpublished map[api.RankRef]struct{} // whose documents are to be published
	made        uint64                   // the highest number of a rank
	ports       ports
}

// held is one rank. What it holds is guarded by Ranks.mu.
type held struct {
	record
	folder string
	saving sync.Mutex // orders what is written of the record
	hidden bool       // an attempt after it has started here: its document is gone

	lease    time.Duration      // until when it lives unrenewed, on Boot; 0 = as its shim says
	moved    waker.Waker        // lease has changed; nil where nobody watches it: its shim does
	order    *order             // that it ends
	wake     waker.Waker        // something is to be told to the shim
	giveUp   context.CancelFunc // ends what is done before the program starts
	others   chan struct{}      // closed when it may run, of one that waits for the job's other ranks
	reported bool               // Config.Spawned was told by this daemon
	unsaved  bool               // the record on the disk is older than what a restarted daemon needs to know

	inherited   bool // the daemon before has ordered its start
	interrupted bool // and carried its side channel, before it had joined

	silence  silence
	progress progress

	probes []*probing // that its shim is to make

	printed  int64  // bytes, as its shim told last
	logBytes *int64 // what its output took when it was looked at after its end; nil = it was not

	over    chan struct{} // closed when it has ended
	cleared chan struct{} // closed when nothing of it is left with the supervisor
}

// New makes the node's side of ranks and sets the handlers of what other nodes
// call. They answer once Restore is through.
func New(cfg Config) *Ranks {
	if cfg.Listen == nil {
		cfg.Listen = FreePorts
	}
	r := &Ranks{
		cfg: cfg, ready: make(chan struct{}), dirty: waker.New(), held: map[api.RankRef]*held{},
		jobs: map[api.JobID]*fence{}, unpublished: map[api.RankRef]struct{}{}, ports: ports{},
	}
	r.ctx, r.stop = context.WithCancel(context.Background())
	serve(r, gate.Start, r.start)
	serve(r, gate.Spawn, r.spawnPrepared)
	serve(r, gate.Renew, r.renew)
	serve(r, gate.End, r.end)
	serve(r, gate.Listen, r.listen)
	r.work.Go(r.publish)
	return r
}

// Run waits until ctx ends and lets go of the ranks, which run on without the
// daemon. What was only being prepared is given up by the next one's Restore.
func (r *Ranks) Run(ctx context.Context) error {
	<-ctx.Done()
	r.Close()
	return nil
}

// Close ends what holds the ranks; their programs run on.
func (r *Ranks) Close() {
	r.mu.Lock()
	r.stop() // whoever holds mu and sees no end may still begin something
	r.mu.Unlock()
	r.work.Wait()
}

// Live is one rank that has not ended.
type Live struct {
	// Rank is which.
	Rank api.RankRef
	// Home is the node that asked for it.
	Home api.NodeID
	// Epoch is the job's, as far as this node has heard.
	Epoch uint64
	// Phase is where it is.
	Phase api.RankPhase
}

// Live lists the ranks that have not ended, ordered by rank.
func (r *Ranks) Live() []Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Live
	for ref, h := range r.held {
		if !h.Doc.Phase.Ended() {
			all = append(all, Live{Rank: ref, Home: h.Home, Epoch: r.fenceLocked(ref.Job).Epoch, Phase: h.Doc.Phase})
		}
	}
	slices.SortFunc(all, func(a, b Live) int { return a.Rank.Compare(b.Rank) })
	return all
}

// Folder tells where the files of a rank are, which may have ended, the socket
// of its shim, and the account that it runs as; false where this node has none.
func (r *Ranks) Folder(ref api.RankRef) (folder, socket, account string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[ref]
	if h == nil {
		return "", "", "", false
	}
	return h.folder, h.Socket, h.Account, true
}

// Ended gives a channel that is closed when the rank has ended, its files are
// complete, and that is published; at once where this node has no such rank.
func (r *Ranks) Ended(ref api.RankRef) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[ref]; h != nil {
		return h.over
	}
	none := make(chan struct{})
	close(none)
	return none
}

func (r *Ranks) jobFolder(job api.JobID) string { return filepath.Join(r.cfg.Folder, string(job)) }

func (r *Ranks) rankFolder(ref api.RankRef) string {
	return filepath.Join(r.jobFolder(ref.Job), strconv.Itoa(ref.Attempt), strconv.Itoa(ref.Rank))
}

// runtimeFolder is where a rank has its sockets and its host file.
func (r *Ranks) runtimeFolder(ref api.RankRef) string {
	return filepath.Join(r.cfg.Runtime, string(ref.Job)+"."+strconv.Itoa(ref.Attempt)+"."+strconv.Itoa(ref.Rank))
}

func (r *Ranks) labelOf(ref api.RankRef) string {
	return api.RankLabel(r.cfg.Node, r.cfg.Cluster(), ref)
}

// ofJobLocked lists the ranks of a job, ordered.
func (r *Ranks) ofJobLocked(job api.JobID) []*held {
	var all []*held
	for ref, h := range r.held {
		if ref.Job == job {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b *held) int { return a.ref().Compare(b.ref()) })
	return all
}

// addLocked begins to hold a rank.
func (r *Ranks) addLocked(rec record, folder string) *held {
	h := &held{record: rec, folder: folder, wake: waker.New(), over: make(chan struct{}), cleared: make(chan struct{})}
	r.held[rec.ref()] = h
	r.made = max(r.made, rec.Made)
	return h
}

// enterLocked moves a rank to a phase.
func (r *Ranks) enterLocked(h *held, phase api.RankPhase, reason api.Reason, message string) {
	if h.Doc.Phase != phase {
		h.Doc.Phase, h.Doc.PhaseSince = phase, r.now()
	}
	if reason != "" {
		h.Doc.Reason, h.Doc.Message = reason, message
	}
	r.reportLocked(h.ref())
}

// save writes the rank's record.
func (r *Ranks) save(h *held) error {
	h.saving.Lock()
	defer h.saving.Unlock()
	r.mu.Lock()
	rec := h.record
	r.mu.Unlock()
	return writeWhole(recordPath(h.folder), rec)
}

func (r *Ranks) now() api.Time { return api.TimeOf(r.cfg.Clock.Now()) }

// wait waits for a time, on the clock that counts sleep, or until something is
// wanted of the rank. It reports false when the daemon lets go.
func (r *Ranks) wait(d time.Duration, wake <-chan struct{}) bool {
	return native.Wait(r.ctx, r.cfg.Clock, d, wake)
}

// within bounds a step of the rank's life.
func (r *Ranks) within(ctx context.Context, d time.Duration, what string) (context.Context, context.CancelFunc) {
	return native.WithTimeout(ctx, r.cfg.Clock, d, what)
}

// makeFolder makes the folder of a rank, or one above it, so that its account can
// pass through it and nobody can list it.
func makeFolder(path string) error {
	const mode = 0o711
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	// The umask may have taken from the mode. To look is less work than to set it.
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() == mode {
		return err
	}
	return os.Chmod(path, mode)
}

// highest is the highest attempt of which this node holds a rank.
func highest(all []*held) int {
	n := 0
	for _, h := range all {
		n = max(n, h.Doc.Attempt)
	}
	return n
}
