package doctor

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

func TestHardwareChecks(t *testing.T) {
	sources := [2]string{"the registry", "librdma"}
	for _, c := range []struct {
		row    native.Comparison
		answer api.Answer
		reason api.Reason
		text   string
	}{
		{native.Comparison{Fact: "a fact", Sources: sources, Reported: [2]string{"5", "5"}, Same: true}, api.AnswerYes, "", "a fact: 5."},
		{native.Comparison{Fact: "a fact", Sources: sources, Reported: [2]string{"80 Gb/s", "80 Gb/s up"}, Same: true}, api.AnswerYes, "", "a fact: 80 Gb/s."},
		{native.Comparison{Fact: "a fact", Sources: sources, Reported: [2]string{"5", "6"}}, api.AnswerNo, api.ReasonSourcesDisagree, "a fact: 5 according to the registry, 6 according to librdma."},
		{native.Comparison{Fact: "a fact", Sources: sources, Reported: [2]string{"5", ""}, Why: native.ReasonReadFailed.With("a timeout")}, api.AnswerUnknown, api.ReasonReadFailed, "a fact: librdma does not say (read_failed: a timeout)."},
		{native.Comparison{Fact: "a fact", Sources: sources}, api.AnswerUnknown, "", "a fact: the registry does not say."},
	} {
		is := is.New(t)
		is.Equal(hardwareCheck(c.row), api.DoctorCheck{Check: "hardware", Answer: c.answer, Reason: c.reason, Text: c.text})
	}
}
