package rank

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
)

// probing is a probe by a command that a rank's shim is to make.
type probing struct {
	command []string
	within  time.Duration
	re      uint64 // the request; 0 = not sent yet
	answer  chan shimproto.Probed
}

// Probe has a rank's shim run a command as the rank's account, with its directory and
// environment. The error says in a part of a sentence how it failed.
func (r *Ranks) Probe(ctx context.Context, ref api.RankRef, command []string, within time.Duration) error {
	p := &probing{command: command, within: within, answer: make(chan shimproto.Probed, 1)}
	r.mu.Lock()
	h := r.held[ref]
	if h == nil {
		r.mu.Unlock()
		return errors.New("the rank is not here")
	}
	h.probes = append(h.probes, p)
	r.mu.Unlock()
	h.wake.Wake()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		h.probes = slices.DeleteFunc(h.probes, func(o *probing) bool { return o == p })
	}()
	ctx, cancel := r.within(ctx, within+replyWithin, "the shim of rank "+ref.String()+" to make a probe")
	defer cancel()
	select {
	case answer := <-p.answer:
		return outcome(command[0], within, answer)
	case <-ctx.Done():
		return errors.New("the process that holds the rank did not make the probe")
	}
}

// outcome is why a command failed.
func outcome(name string, within time.Duration, m shimproto.Probed) error {
	how := ""
	switch {
	case m.NotStarted != nil:
		return fmt.Errorf("%s was not started: %s", name, m.NotStarted.Message)
	case m.TimedOut:
		how = fmt.Sprintf("%s did not end within %v", name, within)
	case m.Signal != "":
		how = fmt.Sprintf("%s was ended by %s", name, m.Signal)
	case m.Code == nil || *m.Code == 0:
		return nil
	default:
		how = fmt.Sprintf("%s ended with exit code %d", name, *m.Code)
	}
	if printed := lastOf(m.Printed); printed != "" {
		how += ", at last: " + printed
	}
	return errors.New(how)
}

const (
	// shownLines and shownBytes are how much of what a command printed is in a message.
	shownLines, shownBytes = 3, 300
)

// lastOf is the last lines of a text, in one.
func lastOf(text string) string {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	text = strings.Join(lines[max(0, len(lines)-shownLines):], " | ")
	text = strings.TrimRight(text[max(0, len(text)-shownBytes):], ".")
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == unicode.ReplacementChar {
			return -1
		}
		return c
	}, text)
}

// newProbesLocked are the requests of those that the shim does not know yet.
func (t *talk) newProbesLocked() (out []shimproto.Request) {
	for _, p := range t.h.probes {
		if p.re == 0 {
			t.n++
			p.re = t.n
			header := shimproto.RequestHeader{ID: t.n, Epoch: int64(t.fenceLocked(t.h.Doc.Job).Epoch)}
			out = append(out, shimproto.Probe{RequestHeader: header, Command: p.command, TimeoutS: p.within.Seconds()})
		}
	}
	return out
}

// probed passes an answer on, and reports whether somebody had asked.
func (t *talk) probed(m shimproto.Probed) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.h.probes {
		if p.re == m.Re && m.Re != 0 {
			select {
			case p.answer <- m:
			default: // it has one
			}
			return true
		}
	}
	return false
}
