package native

import (
	"context"
	"time"
)

// UseTeller is implemented by facts that tell for how long nobody has used the machine's
// keyboard or pointer. No system announces that: it is read when somebody asks.
type UseTeller interface {
	// Unused is for how long nobody has, or the reason why that is not known.
	Unused(ctx context.Context) (time.Duration, Reason)
}
