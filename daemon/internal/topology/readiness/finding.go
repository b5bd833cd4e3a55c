package readiness

import (
	"fmt"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// finding is the answer of one check before it has its key and its end.
type finding struct {
	answer api.Answer
	reason api.Reason
	text   string
	remedy string
	// verdict is the best that a no leaves of the cable.
	verdict api.RDMAVerdict
	// advice says that a no does not stop RDMA.
	advice bool
	// follows says that another check has the cause: it is not named again.
	follows bool
}

func yes(format string, args ...any) finding {
	return finding{answer: api.AnswerYes, text: sentence(format, args...), verdict: api.RDMAReady}
}

func unknown(reason api.Reason, format string, args ...any) finding {
	return finding{answer: api.AnswerUnknown, reason: reason, text: sentence(format, args...), verdict: api.RDMAUnknown}
}

func no(verdict api.RDMAVerdict, reason api.Reason, format string, args ...any) finding {
	return finding{answer: api.AnswerNo, reason: reason, text: sentence(format, args...), verdict: verdict}
}

// do adds what a person, or Fulmen, can do about it.
func (f finding) do(format string, args ...any) finding {
	f.remedy = sentence(format, args...)
	return f
}

// after marks what only follows from another check, whose verdict counts.
func (f finding) after() finding {
	f.follows, f.remedy = true, ""
	if f.answer == api.AnswerNo {
		f.verdict = api.RDMAUnknown
	}
	return f
}

// advised marks what does not stop RDMA.
func (f finding) advised() finding {
	f.advice = true
	return f
}

// sentence begins with a capital, unless it begins with a name.
func sentence(format string, args ...any) string {
	return turned(fmt.Sprintf(format, args...), strings.ToUpper)
}

// within is a sentence as a part of another one: without its end, and in lower case
// unless it begins with a name.
func within(text string) string { return turned(strings.TrimSuffix(text, "."), strings.ToLower) }

// turned changes the first letter of a text that begins with a word of ours.
func turned(text string, change func(string) string) string {
	first, _, _ := strings.Cut(text, " ")
	if len(first) > 0 && slices.Contains(openings(), strings.ToLower(first)) {
		return change(text[:1]) + text[1:]
	}
	return text
}

// openings are the words with which sentences begin that do not begin with a name.
func openings() []string {
	return []string{"port", "the", "through", "what", "whether", "which", "two", "both", "no"}
}
