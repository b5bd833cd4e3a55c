package replica

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// Calls is how other members are called.
type Calls interface {
	// Call calls a method of a member and waits for its answer.
	Call(ctx context.Context, node api.NodeID, method string, params, result any) error
	// Notify sends a member what it has subscribed to.
	Notify(node api.NodeID, method string, params any) error
}

// CallHandler answers a member's call.
type CallHandler = func(ctx context.Context, from api.NodeID, params json.RawMessage) (any, error)

// NoticeHandler gets what a member sends by itself.
type NoticeHandler = func(from api.NodeID, params json.RawMessage)

// RosterHolder keeps the roster, of which there is one in a daemon.
type RosterHolder interface {
	// Current is the roster now. It answers from memory.
	Current() *cluster.Roster
	// Update replaces the roster by what change makes of it, keeps it, and says
	// whether it is another one. change may be called again where somebody else
	// was faster.
	Update(change func(*cluster.Roster) (*cluster.Roster, error)) (changed bool, err error)
}

// LastSeen keeps when this node last heard from another member, so that after
// a long absence it knows that deletions may have come and gone.
type LastSeen interface {
	// LoadLastSeen is what was saved last; zero if nothing was.
	LoadLastSeen() (time.Time, error)
	// SaveLastSeen keeps it. It is called once an hour at most.
	SaveLastSeen(time.Time) error
}

// Options is what a Replica is made with.
type Options struct {
	// Ledger holds the documents. Required.
	Ledger *ledger.Ledger
	// Writer ends documents of this node's own that it no longer holds; it must
	// be one for every kind. Required.
	Writer *ledger.Writer
	// Roster keeps the roster. Required.
	Roster RosterHolder
	// Calls reaches the members. Required.
	Calls Calls
	// Clock measures delays. Required.
	Clock native.Clock
	// LastSeen survives a restart; nil = every start counts as a return from a
	// long absence, and foreign documents are asked for anew.
	LastSeen LastSeen
	// OnRemoved hears of each member that was removed, this node too, after its
	// documents are gone and it was told; nil = nobody does. It is called on
	// goroutines of its own.
	OnRemoved func(api.NodeID)
	// Rand chooses whom to tell; nil = seeded by the system.
	Rand *rand.Rand
	// Timing is zero but in tests.
	Timing Timing
	// Log gets what went wrong; nil = nobody does.
	Log *slog.Logger
}

// Timing is how long things take. Zero fields have the defaults.
type Timing struct {
	// Period is how often digests are compared with one neighbour; 60 s.
	Period time.Duration
	// Settle is how long owners have after the start, and after a orphan was met,
	// to put what they still mean; 30 s.
	Settle time.Duration
	// Call is how long a call may take; 10 s.
	Call time.Duration
	// Relay is when those are asked who should have heard otherwise; 100 ms, and
	// up to twice that.
	Relay time.Duration
	// Notify is for how long what a neighbour wrote is left to it to tell; 10 s.
	Notify time.Duration
	// Stagger is between comparisons with several neighbours that come up
	// together, so that the first brings what is new and the rest find nothing; 20 ms.
	Stagger time.Duration
	// Silence is after how long without news a subscription is made anew; 15 s.
	Silence time.Duration
	// Retry is the pause after a first failure; it doubles up to Period. 500 ms.
	Retry time.Duration
}

func (t Timing) withDefaults() Timing {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Period, time.Minute}, {&t.Settle, 30 * time.Second}, {&t.Call, 10 * time.Second},
		{&t.Relay, 100 * time.Millisecond}, {&t.Notify, 10 * time.Second}, {&t.Stagger, 20 * time.Millisecond},
		{&t.Silence, 15 * time.Second}, {&t.Retry, 500 * time.Millisecond},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return t
}

// Sizes.
const (
	// bigBytes is above which size a document is offered rather than sent.
	bigBytes = 32 << 10
	// messageBytes bounds what is put into one message, so that with its envelope
	// it stays below api.MaxMessageBytes.
	messageBytes = 600 << 10
	// outboxKeys is how many keys wait for a neighbour at most.
	outboxKeys = 4096
	// relays is to how many news is passed on in full.
	relays = 3
	// maxCauses is how many refusals an answer tells.
	maxCauses = 32
)
