package rank

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// restoreWithin bounds what the supervisor takes to say what it has.
const restoreWithin = 30 * time.Second

// Restore finds again what the daemon before has left: ranks that run on are
// held again, with their grants, those that ended meanwhile are concluded, and
// what belongs to nothing is removed. It is called once, before anything is
// served; until it has returned without an error no call of another node is
// answered.
func (r *Ranks) Restore(ctx context.Context) error {
	if err := r.readFolders(); err != nil {
		return err
	}
	ctx, cancel := r.within(ctx, restoreWithin, "the system's supervisor to list its units")
	defer cancel()
	if err := r.removeStrays(ctx); err != nil {
		return err
	}
	if err := r.restoreGrants(); err != nil {
		return err
	}
	r.mu.Lock()
	for _, h := range r.held {
		r.hideOldLocked(h)
		r.reportLocked(h.ref())
		if h.Doc.Phase.Ended() {
			_ = os.RemoveAll(filepath.Dir(h.Socket))
			close(h.over)
			close(h.cleared)
			continue
		}
		h.Doc.SilentSince = api.Time{} // what its devices carry is watched anew
		r.work.Go(func() { r.resume(h) })
	}
	r.mu.Unlock()
	if err := r.settleDocuments(); err != nil {
		return err
	}
	close(r.ready)
	r.cfg.Changed()
	return nil
}

// resume goes on with a rank that had not ended.
func (r *Ranks) resume(h *held) {
	if h.Committed {
		h.inherited = true
		r.interrupt(h)
		r.follow(h)
		return
	}
	r.concludeUnstarted(h, restarted(h, "The daemon that prepared rank %d was restarted before the program ran."))
	r.clear(h)
}

// restarted is why a rank ended that needed the daemon before this one. The home adds the
// node's name behind the rank.
func restarted(h *held, text string) *api.Error {
	return api.Errorf(api.ReasonDaemonRestarted, h.ref().String(), text, h.ref().Rank)
}

// hideOldLocked hides the document of a rank when one of a later attempt is here.
func (r *Ranks) hideOldLocked(h *held) { h.hidden = h.Doc.Attempt < highest(r.ofJobLocked(h.Doc.Job)) }

// readFolders reads what is known of every rank. What belongs to a job that was
// deleted meanwhile is removed, unless it may live.
func (r *Ranks) readFolders() error {
	if err := makeFolder(r.cfg.Folder); err != nil {
		return err
	}
	if err := makeFolder(r.cfg.Runtime); err != nil {
		return err
	}
	jobs, err := os.ReadDir(r.cfg.Folder)
	if err != nil {
		return err
	}
	for _, entry := range jobs {
		job := api.JobID(entry.Name())
		if !entry.IsDir() || !job.Valid() {
			continue
		}
		r.mu.Lock()
		r.readJobLocked(job)
		live := slices.ContainsFunc(r.ofJobLocked(job), func(h *held) bool { return !h.Doc.Phase.Ended() })
		r.mu.Unlock()
		if !live && r.cfg.Deleted(job) {
			if err := r.drop(job); err != nil {
				r.cfg.Log.Warn("the files of a deleted job could not be removed", "job", string(job), "err", err)
			}
		}
	}
	return nil
}

// readJobLocked reads a job's fence and ranks.
func (r *Ranks) readJobLocked(job api.JobID) {
	known, err := readFence(r.jobFolder(job))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.cfg.Log.Error("what was ended of a job cannot be read", "job", string(job), "err", err)
	}
	*r.fenceLocked(job) = known
	attempts, _ := os.ReadDir(r.jobFolder(job))
	for _, attempt := range attempts {
		n, err := strconv.Atoi(attempt.Name())
		if err != nil || !attempt.IsDir() {
			continue
		}
		ranks, _ := os.ReadDir(filepath.Join(r.jobFolder(job), attempt.Name()))
		for _, rank := range ranks {
			number, err := strconv.Atoi(rank.Name())
			ref := api.RankRef{Job: job, Attempt: n, Rank: number}
			if err != nil || !rank.IsDir() || !ref.Valid() {
				continue
			}
			rec, err := readRecord(r.rankFolder(ref))
			if err != nil || rec.ref() != ref {
				if !errors.Is(err, fs.ErrNotExist) {
					r.cfg.Log.Error("a rank's record cannot be read", "rank", ref.String(), "err", err)
				}
				continue
			}
			r.addLocked(rec, r.rankFolder(ref))
			f := r.fenceLocked(job)
			f.Epoch = max(f.Epoch, rec.Doc.Epoch)
			f.attempt(n)
		}
	}
}

// removeStrays removes units of this node, and of no other on the machine, of which this node has no record, or that of a rank
// that has ended: nothing would ever renew or end them.
func (r *Ranks) removeStrays(ctx context.Context) error {
	units, err := r.cfg.Supervisor.List(ctx, api.RankLabelsOf(r.cfg.Node))
	if err != nil && len(units) == 0 {
		return fmt.Errorf("the system's supervisor cannot tell what runs: %w", err)
	}
	r.mu.Lock()
	known := map[string]bool{}
	for _, h := range r.held {
		if !h.Doc.Phase.Ended() {
			known[h.Label] = true
		}
	}
	r.mu.Unlock()
	for _, u := range units {
		if known[u.Label] {
			continue
		}
		if err := r.cfg.Supervisor.Remove(ctx, u.Label); err != nil {
			r.cfg.Log.Error("a unit that belongs to no rank cannot be removed", "label", u.Label, "err", err)
		}
	}
	return nil
}

// restoreGrants takes up the grants of what may live.
func (r *Ranks) restoreGrants() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.held {
		if h.Doc.Phase.Ended() {
			continue
		}
		ref := h.grant()
		err := r.cfg.RestoreGrant(api.PeerGrantParams{
			PeerHolderParams: api.PeerHolderParams{Holder: ref.String(), Epoch: r.fenceLocked(ref.Job).Epoch},
			Principal:        h.Principal, GPU: h.Plan.GPU, MemoryBytes: h.Plan.MemoryBytes, PortNumbers: h.Plan.PortNumbers,
		}, api.Seconds(h.LeaseS))
		if err != nil {
			return fmt.Errorf("the grant of rank %s: %w", ref, err)
		}
	}
	return nil
}

// settleDocuments sees to the rank documents that have no folder: of a job that
// was deleted, or of a rank whose files somebody has removed.
func (r *Ranks) settleDocuments() error {
	for _, rec := range r.cfg.Jobs.List(ledger.Filter{Kinds: []api.Kind{api.KindRank}, Nodes: []api.NodeID{r.cfg.Node}}) {
		var doc api.Rank
		name := rec.Key().Name
		ref, err := api.ParseRankRef(name)
		if err != nil || rec.Decode(&doc) != nil {
			continue
		}
		r.mu.Lock()
		held := r.held[ref] != nil
		r.mu.Unlock()
		switch {
		case held:
		case r.cfg.Deleted(ref.Job):
			err = r.cfg.Documents.Delete(api.KindRank, name)
		case !doc.Phase.Ended():
			doc.Phase, doc.PhaseSince, doc.EndedAt = api.RankLost, r.now(), r.now()
			doc.Reason, doc.Message = api.ReasonRankLost, "The files of the rank are gone from its node."
			err = r.cfg.Documents.Put(api.KindRank, name, doc, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
