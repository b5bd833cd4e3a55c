package health

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

const (
	// overSoon gathers what comes at once.
	overSoon = time.Second
	// overAgain is how often it is looked whether it is over.
	overAgain = time.Minute
)

// Quota tells of the Macs that have more documents than are kept of one: all of
// them in one condition, for as long as documents are refused.
type Quota struct {
	list   func() []ledger.Over
	name   func(api.NodeID) string
	notify func(detail string) // empty: it is over
	clock  native.Clock
	log    *slog.Logger

	mu       sync.Mutex
	timer    native.Timer // nil where nothing is to be looked at
	reported string
	ended    bool
}

// NewQuota tells of a list of those Macs; tell takes the detail of the condition, empty
// when it is over.
func NewQuota(clock native.Clock, list func() []ledger.Over, name func(api.NodeID) string, notify func(detail string), log *slog.Logger) *Quota {
	return &Quota{list: list, name: name, notify: notify, clock: clock, log: log}
}

// Changed says that the list has one more. It may be called under any lock.
func (o *Quota) Changed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil && o.reported != "" {
		o.timer.Stop()
		o.timer = nil
	}
	o.armLocked(overSoon)
}

// armLocked has the next look made after so long.
func (o *Quota) armLocked(after time.Duration) {
	if o.timer == nil && !o.ended {
		o.timer = o.clock.AfterFunc(after, o.look)
	}
}

func (o *Quota) look() {
	all := o.list()
	var details []string
	for _, over := range all {
		kind := string(over.Kind)
		if kind == "" {
			kind = "newer kinds"
		}
		details = append(details, fmt.Sprintf("%s of %s, %s (%s at most)", kind, o.name(over.Node), over.Node.Display(), over.Bound))
		o.log.Warn("documents of a member were refused: it has as many as are kept of one",
			"reason", api.ReasonTooManyDocuments, "node", over.Node, "kind", kind, "bound", over.Bound, "refused", over.Refused)
	}
	detail := strings.Join(details, "; ")
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	if detail != o.reported {
		o.reported = detail
		o.notify(detail)
	}
	if detail != "" {
		o.armLocked(overAgain)
	}
}

// Close ends it.
func (o *Quota) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.timer != nil {
		o.timer.Stop()
	}
	return nil
}
