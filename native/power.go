package native

import "context"

// Power tells when the machine is about to sleep and lets the daemon finish
// first, and keeps it from sleeping by itself.
type Power interface {
	// Notices reports sleep, wake and shutdown. The callback must return at
	// once; after stop has returned it is not called again.
	Notices(notice func(PowerNotice)) (stop func() error, err error)

	// Acknowledge lets the system go on with what the notice announced. A
	// notice that is not acknowledged delays it until the notice's deadline at
	// most. Unknown and past identifiers are [ErrNotFound].
	Acknowledge(ctx context.Context, id string) error

	// KeepAwake stops idle sleep until release is called. It does not stop a
	// closed lid, the user's own command, or an empty battery; hence the
	// notices. The reason is shown to the user by the system.
	KeepAwake(ctx context.Context, reason string) (release func() error, err error)
}

// PowerEvent is what a notice announces.
type PowerEvent string

// The events. All but awake wait for an acknowledgement.
const (
	PowerWillSleep    PowerEvent = "will_sleep"
	PowerWillPowerOff PowerEvent = "will_power_off"
	PowerAwake        PowerEvent = "awake"
)

// PowerNotice announces one event.
type PowerNotice struct {
	// ID is to be given to Acknowledge; "" where nothing waits.
	ID    string     `json:"id,omitzero"`
	Event PowerEvent `json:"event"`
	// Cause is in the system's words ("lid closed"), where it tells.
	Cause string `json:"cause,omitzero"`
	// WithinS is how long in seconds the system waits for the acknowledgement.
	WithinS float64   `json:"within_s,omitzero"`
	At      Timestamp `json:"at"`
}

// NoPower refuses everything with its reason.
type NoPower struct{ Reason Reason }

// Notices is refused.
func (n NoPower) Notices(func(PowerNotice)) (func() error, error) {
	return nil, Unsupported(FeaturePowerNotices, n.Reason)
}

// Acknowledge is refused.
func (n NoPower) Acknowledge(context.Context, string) error {
	return Unsupported(FeaturePowerNotices, n.Reason)
}

// KeepAwake is refused.
func (n NoPower) KeepAwake(context.Context, string) (func() error, error) {
	return nil, Unsupported(FeatureKeepAwake, n.Reason)
}
