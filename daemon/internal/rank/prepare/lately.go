package prepare

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare/look"
)

const (
	// latelyFor is how long what a preflight found counts for the start that follows
	// it: looking again would cost each rank another process.
	latelyFor = 5 * time.Second
	// latelyKept bounds how much of it is kept.
	latelyKept = 64
)

// found is what a preflight found.
type found struct {
	answer look.Answer
	env    map[string]string
	until  time.Duration // on Clock.Boot
}

// lately are finds by what was looked for, and by whom.
type lately map[[sha256.Size]byte]found

// askedFor names what is looked for.
func askedFor(a Account, program api.Program, values map[string]string) (key [sha256.Size]byte, ok bool) {
	// What is copied or prepared first is looked for again.
	if program.Prepares() {
		return key, false
	}
	raw, err := json.Marshal([]any{a, program, values})
	return sha256.Sum256(raw), err == nil
}

// keepFound keeps what a preflight found, if a start may use it.
func (p *Preparer) keepFound(a Account, program api.Program, values map[string]string, answer look.Answer, env map[string]string) {
	key, ok := askedFor(a, program, values)
	if !ok || len(answer.Problems) > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.config.Clock.Boot()
	maps.DeleteFunc(p.lately, func(_ [sha256.Size]byte, f found) bool { return f.until <= now })
	if len(p.lately) < latelyKept {
		p.lately[key] = found{answer, env, now + latelyFor}
	}
}

// takeFound gives what a preflight has found just now, once.
func (p *Preparer) takeFound(a Account, program api.Program, values map[string]string) (answer look.Answer, env map[string]string, ok bool) {
	key, ok := askedFor(a, program, values)
	if !ok {
		return answer, nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.lately[key]
	delete(p.lately, key)
	return f.answer, f.env, ok && p.config.Clock.Boot() < f.until
}
