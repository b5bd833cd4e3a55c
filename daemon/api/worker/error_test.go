package worker

import (
	"testing"

	"github.com/matryer/is"
)

func TestError(t *testing.T) {
	is := is.New(t)
	plain := &Error{Reason: ReasonMLX, Message: "no memory"}
	is.Equal(plain.Error(), "no memory")
	is.Equal(plain.ExitStatus(), 1)
	helpful := &Error{Reason: ReasonUsage, Message: "-n is 0", Remedy: "give 1 or more"}
	is.Equal(helpful.Error(), "-n is 0: give 1 or more")
	is.Equal(helpful.ExitStatus(), 2)
}

func TestReasonsAreDistinct(t *testing.T) {
	seen := map[Reason]bool{}
	for _, reason := range []Reason{
		ReasonUsage, ReasonNoDevice, ReasonOutOfMemory, ReasonBackendUnavailable, ReasonGroupInit,
		ReasonGroupTooSmall, ReasonWrongResult, ReasonMLX, ReasonCancelled, ReasonDeadline,
	} {
		if seen[reason] || reason == "" {
			t.Errorf("reason %q twice", reason)
		}
		seen[reason] = true
	}
}
