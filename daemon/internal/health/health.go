package health

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// maxDetail bounds the detail of a condition, in characters.
const maxDetail = 300

// Health knows the conditions that hold on this node. It may be used by several
// goroutines.
type Health struct {
	table map[api.Reason]Info
	out   ledger.Publisher
	now   func() time.Time
	log   *slog.Logger

	mu    sync.Mutex
	holds map[key]*held
}

// key is one condition on one subject.
type key struct {
	code    api.Reason
	subject string
}

// name is the name of the condition's document.
func (k key) name() string {
	if k.subject == "" {
		return string(k.code)
	}
	return string(k.code) + "/" + k.subject
}

// held is a condition that holds.
type held struct {
	condition api.Condition
	published bool // its document says just this
}

// New makes the health of this node, on which nothing is wrong yet. now is the
// wall clock, by which conditions are dated; log gets what cannot be published, which
// the next word of it tries again.
func New(out ledger.Publisher, now func() time.Time, log *slog.Logger) *Health {
	h := &Health{table: map[api.Reason]Info{}, out: out, now: now, log: log, holds: map[key]*held{}}
	for _, info := range Conditions() {
		h.table[info.Code] = info
	}
	return h
}

// raise says that a condition holds on a subject: a node, an end of a cable, a
// link, a job, a rank; empty is this node. The detail, if any, says what is
// particular now, in a few words. A condition that held before keeps its
// beginning; raising it again changes at most its detail.
//
// The error is for a code that is not registered, a subject that cannot be part
// of a name, or a document that could not be published; in the last case the
// condition holds, and the next Raise or Clear tries again.
func (h *Health) raise(code api.Reason, subject, detail string) error {
	info, ok := h.table[code]
	if !ok {
		return fmt.Errorf("health condition %q is not registered", code)
	}
	k := key{code, subject}
	if err := api.NameCondition.Check(k.name()); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	text := withDetail(info.Text, detail)
	one := h.holds[k]
	if one == nil {
		one = &held{condition: api.Condition{
			Code: code, Severity: info.Severity, Remedy: info.Remedy, Action: info.Action, DependsOn: info.DependsOn,
			Subject: subject, Since: api.TimeOf(h.now()),
		}}
		h.holds[k] = one
	}
	if one.condition.Text != text {
		one.condition.Text, one.published = text, false
	}
	return h.settleLocked(subject)
}

// clear says that a condition holds no longer. Clearing what does not hold does
// nothing.
func (h *Health) clear(code api.Reason, subject string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := key{code, subject}
	one := h.holds[k]
	if one == nil {
		return nil
	}
	if one.published {
		if err := h.out.Delete(api.KindCondition, k.name()); err != nil {
			return err
		}
	}
	delete(h.holds, k)
	return h.settleLocked(subject)
}

// subjects are those on which a condition holds.
func (h *Health) subjects(code api.Reason) (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range h.holds {
		if k.code == code {
			all = append(all, k.subject)
		}
	}
	return all
}

// Shown lists the conditions that are published, the most severe first, then
// the oldest.
func (h *Health) Shown() []api.Condition {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []api.Condition
	for _, one := range h.holds {
		if !h.explainedLocked(one.condition) {
			out = append(out, one.condition)
		}
	}
	slices.SortFunc(out, func(a, b api.Condition) int {
		return cmp.Or(bySeverity(a, b), a.Since.Compare(b.Since.Time), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject, b.Subject))
	})
	return out
}

// bySeverity orders conditions, the most severe first.
func bySeverity(a, b api.Condition) int {
	order := api.Severity("").Values()
	return slices.Index(order, string(b.Severity)) - slices.Index(order, string(a.Severity))
}

// settleLocked publishes what a subject's conditions have become. What is explained
// by another is taken back, and comes back with its own beginning. What could not be
// published is tried again the next time.
func (h *Health) settleLocked(subject string) error {
	var first error
	for k, one := range h.holds {
		if k.subject != subject {
			continue
		}
		var err error
		switch hide := h.explainedLocked(one.condition); {
		case hide && one.published:
			if err = h.out.Delete(api.KindCondition, k.name()); err == nil {
				one.published = false
			}
		case !hide && !one.published:
			if err = h.out.Put(api.KindCondition, k.name(), one.condition, nil); err == nil {
				one.published = true
			}
		}
		first = cmp.Or(first, err)
	}
	return first
}

// explainedLocked reports whether another condition on the same subject explains c.
func (h *Health) explainedLocked(c api.Condition) bool {
	return slices.ContainsFunc(c.DependsOn, func(code api.Reason) bool {
		return h.holds[key{code, c.Subject}] != nil
	})
}

// withDetail adds a detail to a sentence. The detail may quote what others
// wrote: it becomes one line of printable text.
func withDetail(text, detail string) string {
	detail = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, detail[:min(len(detail), 8*maxDetail)])
	detail = strings.TrimRight(strings.Join(strings.Fields(detail), " "), ". ")
	if detail == "" {
		return text
	}
	if runes := []rune(detail); len(runes) > maxDetail {
		detail = strings.TrimSpace(string(runes[:maxDetail-1])) + "…"
	}
	return strings.TrimSuffix(text, ".") + ": " + detail + "."
}
