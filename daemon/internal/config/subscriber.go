package config

import (
	"fmt"

	"fulmen/daemon/api"
)

// Subscriber is a part of the daemon that a change concerns. Both functions are
// called from one goroutine at a time, and must not call the [Live]. Either may be nil.
type Subscriber struct {
	// Name is the part's, for the message of a refusal.
	Name string
	// Verify refuses what the part cannot do, and changes nothing.
	Verify func(next Config) error
	// Commit acts on a configuration that every part has agreed to. It cannot fail.
	Commit func(next Config)
}

// verifyAll asks everybody.
func verifyAll(all []*Subscriber, next Config) error {
	for _, s := range all {
		if s.Verify == nil {
			continue
		}
		if err := s.Verify(next); err != nil {
			message := err.Error()
			if e := api.AsError(err); e.Data.Reason != api.ReasonInternal {
				message = e.Message
			}
			return fmt.Errorf("%w [%w]", api.Errorf(api.ReasonConfigInvalid, s.Name,
				"The configuration was not taken: %s refuses it: %s", s.Name, message), err)
		}
	}
	return nil
}
