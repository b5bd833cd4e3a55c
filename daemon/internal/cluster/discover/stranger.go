package discover

import (
	"time"

	"fulmen/daemon/internal/cluster/transport"
)

// mostStrangers is how many are listed.
const mostStrangers = 32

// Stranger is a node that is no member and waits for another Mac to be added.
// Nothing of it is proved.
type Stranger struct {
	// Pairing is the random id under which it waits.
	Pairing string
	// Protocol is the newest peer protocol that it says it speaks.
	Protocol int
	// Candidates are where it can be spoken to.
	Candidates []transport.Candidate
	// Since is when it was heard first, by the wall clock.
	Since time.Time
}
