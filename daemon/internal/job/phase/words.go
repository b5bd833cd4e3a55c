package phase

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
)

// complete sees to it that no document says of a job or an attempt that it has ended, but
// not well, without a sentence that names a Mac or a rank: a person has to know where to
// look. Every document of a home passes here.
func (m *step) complete() {
	if a := m.attempt(); a != nil && !a.EndedAt.IsZero() && a.Reason != "" && !m.isNamed(a.Message) {
		rank := -1
		if a.FirstFailed != nil {
			rank = *a.FirstFailed
		}
		a.Message = m.sentence(a.Reason, a.Message, rank)
	}
	if m.Job.Phase.Ended() && m.Job.Phase != api.JobSucceeded && !m.isNamed(m.Job.Message) {
		rank := -1
		if m.Cause != nil && m.Job.Phase == api.JobFailed {
			rank = m.Cause.Rank
		}
		m.Job.Message = m.sentence(m.Job.Reason, m.Job.Message, rank)
	}
}

// isNamed reports whether a text names a Mac of the cluster or a rank by its number.
func (m *step) isNamed(text string) bool {
	for _, before := range []string{"rank ", "Rank "} {
		if _, number, found := strings.Cut(text, before); found && number != "" && number[0] >= '0' && number[0] <= '9' {
			return true
		}
	}
	isIn := func(n api.NodeID) bool { return n != "" && strings.Contains(text, m.Rules.name(n)) }
	return isIn(m.Self) || slices.ContainsFunc(m.members, isIn) || slices.ContainsFunc(m.Nodes, func(n Node) bool { return isIn(n.ID) })
}

// sentence is why something ended, with the rank or the Macs that it is about.
func (m *step) sentence(why api.Reason, text string, rank int) string {
	info, _ := api.LookupReason(why)
	text = cmp.Or(text, info.Text, "The job was ended.")
	a := m.attempt()
	switch by := m.Job.StopRequested; {
	case rank >= 0 && rank < len(m.Ranks):
		return Attributed("Rank "+m.named([]int{rank})[len("rank "):], text)
	case by != nil && why == api.ReasonStoppedByPerson && by.By.Valid():
		return by.By.User + " on " + m.Rules.name(by.By.Node) + " stopped the job."
	case a != nil && a.Plan != nil && len(a.Plan.Ranks) > 0:
		var on []string
		for _, r := range a.Plan.Ranks {
			if name := m.Rules.name(r.Node); !slices.Contains(on, name) {
				on = append(on, name)
			}
		}
		return text + " Its ranks were placed on " + strings.Join(on, ", ") + "."
	}
	return text + " " + m.Rules.name(m.Self) + " keeps the job."
}

// Attributed is a sentence that tells first whom it is about: "mac-mini: the disk is full."
// What is written in capitals stays so.
func Attributed(who, text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if second, _ := utf8.DecodeRuneInString(text[size:]); !unicode.IsUpper(second) {
		text = string(unicode.ToLower(first)) + text[size:]
	}
	return who + ": " + text
}
