package health

import (
	"log/slog"

	"fulmen/daemon/api"
)

// Own tells what holds of this node as a whole. What cannot be published, the log has.
type Own struct {
	health *Health
	log    *slog.Logger
}

// Own gives the conditions of the node as a whole.
func (h *Health) Own(log *slog.Logger) Own { return Own{h, log} }

// Raise says that a condition holds.
func (o Own) Raise(code api.Reason, detail string) {
	if err := o.health.Raise(code, "", detail); err != nil {
		o.log.Error("a condition could not be raised", "code", code, "detail", detail, "error", err)
	}
}

// Clear says that conditions hold no longer.
func (o Own) Clear(codes ...api.Reason) {
	for _, code := range codes {
		if err := o.health.Clear(code, ""); err != nil {
			o.log.Error("a condition could not be cleared", "code", code, "error", err)
		}
	}
}

// Set says that a condition holds with a detail, or, where that is empty, does not.
func (o Own) Set(code api.Reason, detail string) { o.SetOf(code, "", detail) }

// SetOf does the same of a subject.
func (o Own) SetOf(code api.Reason, subject, detail string) {
	var err error
	if detail == "" {
		err = o.health.Clear(code, subject)
	} else {
		err = o.health.Raise(code, subject, detail)
	}
	if err != nil {
		o.log.Error("a condition could not be published", "code", code, "subject", subject, "error", err)
	}
}
