package phase

import (
	"fmt"
	"time"

	"fulmen/daemon/api"
)

// prepare takes a while, may fail, and now and then the node is of a version that
// does not wait.
func (p *process) prepare(home *machine) {
	w := p.on.w
	if w.rng.IntN(10) == 0 {
		p.ready = true
		p.run(home)
		return
	}
	p.waits = true
	fails := w.rng.IntN(12) == 0
	w.after(time.Duration(w.rng.IntN(60))*time.Second, func() {
		switch {
		case p.dead:
		case fails:
			p.die(exit(1))
		default:
			p.ready = true
			w.report("%s has %d/%d prepared", p.on.id, p.attempt, p.rank)
			p.notifyPrepared()
		}
	})
}

// notifyPrepared says so to whoever acts for the job, as a document does: again
// where he was not there.
func (p *process) notifyPrepared() {
	if p.dead || !p.waits {
		return
	}
	home := p.on.w.node(p.on.masters)
	p.on.answer(home, RankAt{Attempt: p.attempt, Rank: p.rank, Phase: api.RankPreparing, Prepared: true})
	p.on.w.after(5*time.Second, p.notifyPrepared)
}

// spawnRank has a process run that waits; the same order again changes nothing.
func (m *machine) spawnRank(from *machine, e SpawnRank) {
	if m.fenced(from, e.Epoch) {
		return
	}
	for _, p := range m.w.procs {
		if p.attempt != e.Attempt || p.epoch != e.Epoch {
			continue // or of another home's attempt of the same number
		}
		if !p.ready {
			m.w.fatal(fmt.Sprintf("%d/%d runs, and %d/%d is not prepared", e.Attempt, e.Rank, p.attempt, p.rank))
		}
		if p.on == m && p.rank == e.Rank && p.waits && !p.dead {
			m.w.spawns++
			p.run(from)
		}
	}
}
